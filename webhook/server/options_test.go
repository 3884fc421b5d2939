package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/flotilla-k8s/flotilla/webhook/server"
)

func TestReadEnvironment(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		name        string
		environment map[string]string
		want        func(*server.Options)
		wantErr     string
	}{
		{name: "DEP-122: nothing set", want: func(*server.Options) {}},
		{name: "DEP-122: empty counts as not set", environment: map[string]string{"POD_NAMESPACE": "", "WEBHOOK_PORT": "", "CERTS_RENEW_BEFORE": ""},
			want: func(*server.Options) {}},
		{name: "DEP-122: names", environment: map[string]string{"POD_NAMESPACE": "ns", "SERVICE_NAME": "svc", "SECRET_NAME": "sec", "WEBHOOK_HOST": "host.example.org"},
			want: func(o *server.Options) {
				o.Namespace, o.Service, o.Secret, o.Host = "ns", "svc", "sec", "host.example.org"
			}},
		{name: "WH-87: a host that is an address", environment: map[string]string{"WEBHOOK_HOST": "10.0.0.1"}, wantErr: "WEBHOOK_HOST"},
		{name: "WH-87: a host that is no name", environment: map[string]string{"WEBHOOK_HOST": "a b"}, wantErr: "WEBHOOK_HOST"},
		{name: "WH-2: port", environment: map[string]string{"WEBHOOK_PORT": "9443"}, want: func(o *server.Options) { o.Port = 9443 }},
		{name: "WH-2: port 0", environment: map[string]string{"WEBHOOK_PORT": "0"}, wantErr: "WEBHOOK_PORT"},
		{name: "WH-2: port out of range", environment: map[string]string{"WEBHOOK_PORT": "65536"}, wantErr: "WEBHOOK_PORT"},
		{name: "WH-88: days", environment: map[string]string{"CERTS_RENEW_BEFORE": "30d"}, want: func(o *server.Options) { o.RenewBefore = 30 * day }},
		{name: "WH-88: months", environment: map[string]string{"CERTS_RENEW_BEFORE": "6m"}, want: func(o *server.Options) { o.RenewBefore = 180 * day }},
		{name: "WH-89: not as long as a certificate lives", environment: map[string]string{"CERTS_RENEW_BEFORE": "1y"}, wantErr: "365d"},
		{name: "WH-89: longest", environment: map[string]string{"CERTS_RENEW_BEFORE": "364d"}, want: func(o *server.Options) { o.RenewBefore = 364 * day }},
		{name: "WH-88: unknown unit", environment: map[string]string{"CERTS_RENEW_BEFORE": "30"}, wantErr: "CERTS_RENEW_BEFORE"},
		{name: "WH-88: no number", environment: map[string]string{"CERTS_RENEW_BEFORE": "d"}, wantErr: "CERTS_RENEW_BEFORE"},
		{name: "WH-88: nothing before", environment: map[string]string{"CERTS_RENEW_BEFORE": "0d"}, wantErr: "CERTS_RENEW_BEFORE"},
		{name: "WH-88: negative", environment: map[string]string{"CERTS_RENEW_BEFORE": "-1d"}, wantErr: "CERTS_RENEW_BEFORE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := server.DefaultOptions()
			err := got.ReadEnvironment(func(name string) (string, bool) {
				value, set := c.environment[name]
				return value, set
			})
			if c.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), c.wantErr) {
					t.Fatalf("got error %v, want one about %s", err, c.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := server.DefaultOptions()
			c.want(&want)
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(server.Options{}, "Gates", "Registry", "Clock")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
