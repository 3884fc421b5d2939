package cert_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"testing"
	"time"

	"github.com/flotilla-k8s/flotilla/webhook/cert"
)

const day = 24 * time.Hour

func now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func issuer() cert.Issuer {
	return cert.Issuer{DNSNames: []string{"kruise-webhook-service.flotilla-system.svc", "localhost"}, RenewBefore: cert.DefaultRenewBefore}
}

func renew(t *testing.T, data map[string][]byte, at time.Time) (map[string][]byte, bool) {
	t.Helper()
	renewed, changed, err := issuer().Renew(data, at)
	if err != nil {
		t.Fatal(err)
	}
	return renewed, changed
}

func parse(t *testing.T, data []byte) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(data)
	if block == nil {
		t.Fatal("no PEM")
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRenewFromNothing(t *testing.T) {
	data, changed := renew(t, map[string][]byte{"other": []byte("x")}, now())
	if !changed || string(data["other"]) != "x" {
		t.Fatal("WH-153: nothing was made, or what belongs to others was dropped")
	}
	ca, serving := parse(t, data["ca.crt"]), parse(t, data["tls.crt"])
	if got := ca.NotAfter.Sub(ca.NotBefore); got != 10*365*day {
		t.Errorf("WH-153: CA lives %s", got)
	}
	if got := serving.NotAfter.Sub(serving.NotBefore); got != 365*day {
		t.Errorf("WH-153: serving certificate lives %s", got)
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	for _, name := range issuer().DNSNames {
		if _, err := serving.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: now()}); err != nil {
			t.Errorf("WH-153: %s: %v", name, err)
		}
	}
	if _, err := tls.X509KeyPair(data["tls.crt"], data["tls.key"]); err != nil {
		t.Error(err)
	}
}

func TestRenewInTime(t *testing.T) {
	first, _ := renew(t, nil, now())
	for _, c := range []struct {
		name            string
		spoil           func(map[string][]byte)
		at              time.Time
		serving, wantCA bool
	}{
		{"WH-88: a good certificate stays", nil, now().Add(day), false, false},
		{"WH-88: until the look-ahead begins", nil, now().Add(274 * day), false, false},
		{"WH-89: then it is renewed under the same CA", nil, now().Add(276 * day), true, false},
		{"WH-89: a damaged certificate is replaced under the same CA", func(d map[string][]byte) { d["tls.key"] = []byte("x") }, now(), true, false},
		{"WH-153: a CA that ends soon takes the certificate along", nil, now().Add(9*365*day + 300*day), true, true},
		{"WH-153: a CA whose key is lost is replaced", func(d map[string][]byte) { delete(d, "ca.key") }, now(), true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := maps.Clone(first)
			if c.spoil != nil {
				c.spoil(data)
			}
			renewed, changed := renew(t, data, c.at)
			if changed != c.serving || bytes.Equal(renewed["tls.crt"], first["tls.crt"]) == c.serving {
				t.Errorf("serving certificate is new: %v, want %v", changed, c.serving)
			}
			if bytes.Equal(renewed["ca.crt"], first["ca.crt"]) == c.wantCA {
				t.Errorf("CA is new: %v, want %v", !c.wantCA, c.wantCA)
			}
			if _, again := renew(t, renewed, c.at); again {
				t.Error("WH-89: renewal does not settle")
			}
		})
	}
}

func TestRenewForOtherNames(t *testing.T) {
	data, _ := renew(t, nil, now())
	other := cert.Issuer{DNSNames: []string{"other.svc", "localhost"}, RenewBefore: cert.DefaultRenewBefore}
	renewed, changed, err := other.Renew(data, now())
	if err != nil || !changed || !bytes.Equal(renewed["ca.crt"], data["ca.crt"]) {
		t.Errorf("WH-89: changed %v, error %v, same CA %v", changed, err, bytes.Equal(renewed["ca.crt"], data["ca.crt"]))
	}
}
