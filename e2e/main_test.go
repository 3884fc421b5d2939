package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"sigs.k8s.io/e2e-framework/klient/wait"
	"sigs.k8s.io/e2e-framework/pkg/env"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
)

// sideBySide is how many tests run at once: they wait far more than they compute.
const sideBySide = "8"

// readyLimit is how long Flotilla may take to get ready before the tests begin.
const readyLimit = 2 * time.Minute

type clusterKey struct{}

// testenv is the environment of the tests; its context holds the cluster.
var testenv env.Environment

func TestMain(m *testing.M) {
	flag.Parse()
	path, err := kubeconfig()
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
	if !given("test.parallel") {
		if err := flag.Set("test.parallel", sideBySide); err != nil {
			fmt.Fprintln(os.Stderr, "e2e:", err)
			os.Exit(1)
		}
	}
	testenv = env.NewWithConfig(envconf.NewWithKubeConfig(path))
	testenv.Setup(prepare)
	os.Exit(testenv.Run(m))
}

func given(name string) bool {
	found := false
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// prepare connects to the cluster and waits until Flotilla is ready in it.
func prepare(ctx context.Context, cfg *envconf.Config) (context.Context, error) {
	c, err := connect(ctx, cfg.KubeconfigFile())
	if err != nil {
		return ctx, err
	}
	waiting := ""
	err = wait.For(func(ctx context.Context) (bool, error) {
		var err error
		waiting, err = c.notReady(ctx)
		return waiting == "", err
	}, wait.WithTimeout(readyLimit), wait.WithInterval(time.Second), wait.WithImmediate(), wait.WithContext(ctx))
	if err != nil {
		return ctx, fmt.Errorf("waiting for Flotilla to be ready (%s): %w", waiting, err)
	}
	return context.WithValue(ctx, clusterKey{}, c), nil
}
