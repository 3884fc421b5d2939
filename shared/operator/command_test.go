package operator

import (
	"testing"

	"github.com/spf13/pflag"
)

func TestCommandAcceptsTheReferencesFlags(t *testing.T) {
	workers := 3
	cmd := newCommand(App{Name: "kruise-test", Controllers: []Controller{{
		Name:      "test-controller",
		BindFlags: func(fs *pflag.FlagSet) { fs.IntVar(&workers, "test-workers", workers, "workers") },
	}}})
	// DEP-30: how the reference's own manifests start its manager.
	args := []string{
		"--enable-leader-election", "--metrics-addr=:8080", "--health-probe-addr=:8000", "--logtostderr=true",
		"--leader-election-namespace=kruise-system", "--v=5", "--feature-gates=AllAlpha=true,EnableExternalCerts=false",
		"--sync-period=0", "--logging-format=json", "--rest-config-qps=30", "--test-workers=7",
	}
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	if workers != 7 {
		t.Errorf("DEP-108: the flag of a controller was not bound: %d workers", workers)
	}
	if err := cmd.ParseFlags([]string{"--feature-gates=NoSuchGate=true"}); err == nil {
		t.Error("DEP-133: an unknown gate was accepted")
	}
}
