package cri_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flotilla-k8s/flotilla/daemon/cri"
)

func TestSockets(t *testing.T) {
	cases := []struct {
		name, endpoint, socketFile string
		want                       []string
		wantErr                    string
	}{
		{
			name: "R-2, KP-21: known places, in order",
			want: []string{
				"/run/containerd.sock", "/run/containerd/containerd.sock", "/run/crio.sock", "/run/crio/crio.sock",
				"/run/cri-dockerd.sock", "/run/cri-dockerd/cri-dockerd.sock",
				"/run/k3s/containerd/containerd.sock", "/run/k0s/containerd.sock",
			},
		},
		{name: "R-1: a socket file is the only place", socketFile: "x/y.sock", want: []string{"/run/x/y.sock"}},
		{name: "R-11: an endpoint wins", endpoint: "unix:///a/b.sock", socketFile: "x", want: []string{"/a/b.sock"}},
		{name: "R-11: an absolute path is an endpoint", endpoint: "/a/../b.sock", want: []string{"/b.sock"}},
		{name: "a relative endpoint is refused", endpoint: "b.sock", wantErr: "not absolute"},
		{name: "a relative URI is refused", endpoint: "unix://b.sock", wantErr: "not absolute"},
		{name: "another scheme is refused", endpoint: "tcp:///b.sock", wantErr: "only unix:// is supported"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got, err := cri.Sockets(tc.endpoint, tc.socketFile, "/run")
			if (err != nil) != (tc.wantErr != "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Fatalf("got error %v, want %q", err, tc.wantErr)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestScheme(t *testing.T) {
	for id, want := range map[string]string{"containerd://0f3c": "containerd", "cri-o://1": "cri-o", "": "", "0f3c": ""} {
		if got := cri.Scheme(id); got != want {
			t.Errorf("Scheme(%q) = %q, want %q", id, got, want)
		}
	}
	if got := cri.FullID("containerd", "0f3c"); got != "containerd://0f3c" {
		t.Errorf("FullID gives %q", got)
	}
}
