package cloneset_test

import (
	"context"
	"os"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/flotilla-k8s/flotilla/operators/workloads/cloneset"
	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/operator"
	"github.com/flotilla-k8s/flotilla/shared/testenv"
	"github.com/flotilla-k8s/flotilla/shared/testkubelet"
)

// server is the one API server of this package's tests.
var server = testenv.New("deploy/crds/workloads")

func TestMain(m *testing.M) { os.Exit(server.Main(m)) }

// newScene gives the test a namespace with a kubelet and an operator that watches only it.
func newScene(t *testing.T) *scene {
	t.Helper()
	s := newEmptyScene(t)
	s.startOperator(server.Config(t))
	return s
}

// newEmptyScene is a scene without an operator.
func newEmptyScene(t *testing.T) *scene {
	t.Helper()
	t.Parallel()
	s := &scene{t: t, client: server.Client(t, appsv1beta1.AddToScheme), namespace: server.Namespace(t)}
	kubelet := &testkubelet.Kubelet{Client: s.client, Namespace: s.namespace, Node: "node-1"}
	s.background(kubelet.Run)
	return s
}

// startOperator runs the CloneSet controller for the scene's namespace until the test ends or the
// returned function is called.
func (s *scene) startOperator(cfg *rest.Config) (stop func()) {
	s.t.Helper()
	return s.background(s.newOperator(cfg).Start)
}

// startCrashing is startOperator for one that is going to lose its API server: how it ends is no concern
// of the test.
func (s *scene) startCrashing(cfg *rest.Config) {
	s.t.Helper()
	op := s.newOperator(cfg)
	s.background(func(ctx context.Context) error {
		if err := op.Start(ctx); err != nil {
			s.t.Logf("the operator ended as it was meant to: %v", err)
		}
		return nil
	})
}

func (s *scene) newOperator(cfg *rest.Config) *operator.Operator {
	s.t.Helper()
	app := operator.App{
		Name:        "kruise-workloads",
		Schemes:     []func(*runtime.Scheme) error{appsv1beta1.AddToScheme},
		Controllers: []operator.Controller{cloneset.Controller()},
	}
	opts := operator.DefaultOptions(app)
	opts.Namespace, opts.WatchNamespace = s.namespace, s.namespace
	opts.MetricsAddr, opts.HealthProbeAddr = "0", "0"
	opts.LeaderElection.Enabled = false
	opts.SharedProcess, opts.Registry = true, prometheus.NewRegistry()
	op, err := operator.New(app, cfg, opts)
	s.must(err)
	return op
}

// background runs something until the test ends or the returned function is called; an error of it
// fails the test.
func (s *scene) background(run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil && ctx.Err() == nil {
			s.t.Errorf("ended early: %v", err)
		}
	}
	s.t.Cleanup(stop)
	return stop
}
