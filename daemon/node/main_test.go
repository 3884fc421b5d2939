package node

import "testing"

func TestFlags(t *testing.T) {
	cases := []struct {
		name    string
		args    []string
		wantErr bool
	}{
		{name: "DEP-99: flags of logging as the reference takes them", args: []string{"--logtostderr=true", "-v=5"}},
		{name: "DEP-134: one string of gates goes to every component", args: []string{"--feature-gates=AllAlpha=true,AllBeta=true,ImagePullJobGate=true"}},
		{name: "DEP-133: an unknown gate is refused", args: []string{"--feature-gates=NoSuchGate=true"}, wantErr: true},
		{name: "DE-16: JSON logging", args: []string{"--logging-format=json"}},
		{name: "section 1.1: flags of the daemon", args: []string{
			"--addr=:1", "--enable-pprof=true", "--pprof-addr=localhost:1", "--socket-file=a", "--runtime-endpoint=/a",
			"--rest-config-qps=1", "--rest-config-burst=2", "--kubeconfig=a",
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if err := newCommand().ParseFlags(tc.args); (err != nil) != tc.wantErr {
				t.Errorf("got %v", err)
			}
		})
	}
}
