package cert_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/flotilla-k8s/flotilla/webhook/cert"
)

func TestBundle(t *testing.T) {
	authority := func(at time.Time) []byte {
		data, _ := renew(t, nil, at)
		return data["ca.crt"]
	}
	older, old, current := authority(now().Add(-20*day)), authority(now().Add(-10*day)), authority(now())
	expired := authority(now().Add(-11 * 365 * day))
	for _, c := range []struct {
		name string
		live []byte
		at   time.Time
		want []byte
	}{
		{"WH-153: an empty bundle gets the CA", nil, now(), current},
		{"KP-11: a placeholder is replaced", []byte("\n"), now(), current},
		{"KP-11: the CA before stays trusted", old, now(), slices.Concat(current, old)},
		{"KP-11: what is written is stable", slices.Concat(current, old), now(), slices.Concat(current, old)},
		{"KP-11: only the newest of several", slices.Concat(older, old), now(), slices.Concat(current, old)},
		{"KP-11: not for ever", slices.Concat(current, old), now().Add(25 * time.Hour), current},
		{"KP-11: not when it has ended", expired, now(), current},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := cert.Bundle(c.live, current, c.at); !bytes.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestExternalBundle(t *testing.T) {
	m := cert.Material{CA: []byte("ca")}
	if got, err := (cert.External{}).Bundle([]byte("ca"), m, now()); err != nil || string(got) != "ca" {
		t.Errorf("WH-83: %q, %v", got, err)
	}
	if got, err := (cert.External{}).Bundle([]byte("other"), m, now()); err == nil || string(got) != "other" {
		t.Errorf("WH-83: a bundle that differs is an error and stays: %q, %v", got, err)
	}
}

func TestServed(t *testing.T) {
	var served cert.Served
	if _, err := served.GetCertificate(nil); err == nil || !served.Empty() || served.Roots() != nil {
		t.Error("a certificate is served before there is one")
	}
	data, _ := renew(t, nil, now())
	good := cert.Material{CA: data["ca.crt"], Cert: data["tls.crt"], Key: data["tls.key"]}
	if err := served.Set(good); err != nil || served.Empty() {
		t.Fatal(err)
	}
	first, err := served.GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	bad := good
	bad.Key = []byte("x")
	if err := served.Set(bad); err == nil {
		t.Error("a key that does not fit is accepted")
	}
	if second, _ := served.GetCertificate(nil); second != first {
		t.Error("a bad certificate replaced a good one")
	}
}
