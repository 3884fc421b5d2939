package operator_test

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/shared/operator"
	"github.com/flotilla-k8s/flotilla/shared/testenv"
)

const timeout = time.Minute

var server = testenv.New()

func TestMain(m *testing.M) { os.Exit(server.Main(m)) }

// controller is one that only counts how often it was set up.
type controller struct {
	operator.Controller
	started atomic.Int32
}

func newController(name string, kind schema.GroupVersionKind) *controller {
	c := &controller{}
	c.Controller = operator.Controller{
		Name: name,
		Kind: kind,
		Setup: func(context.Context, operator.Deps) error {
			c.started.Add(1)
			return nil
		},
	}
	return c
}

// options are those of a test: own namespace and registry, fast election, no servers.
func options(app operator.App, namespace string) operator.Options {
	opts := operator.DefaultOptions(app)
	opts.Namespace = namespace
	opts.LeaderElection.Namespace = namespace
	opts.LeaderElection.LeaseDuration = 3 * time.Second
	opts.LeaderElection.RenewDeadline = 2 * time.Second
	opts.LeaderElection.RetryPeriod = 200 * time.Millisecond
	opts.RecheckPeriod = 50 * time.Millisecond
	opts.MetricsAddr, opts.HealthProbeAddr = "", ""
	opts.Registry = prometheus.NewRegistry()
	opts.SharedProcess = true
	return opts
}

// start runs an operator until the returned function or the end of the test stops it. The function
// returns what Start returned.
func start(t *testing.T, app operator.App, cfg *rest.Config, opts operator.Options) (*operator.Operator, func() error) {
	t.Helper()
	op, err := operator.New(app, cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- op.Start(ctx) }()
	var done bool
	stop := func() error {
		if done {
			return nil
		}
		done = true
		cancel()
		return <-result
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("stopping the operator: %v", err)
		}
	})
	return op, stop
}

func ready(op *operator.Operator) func(context.Context) string {
	return func(context.Context) string {
		if err := op.Ready(); err != nil {
			return err.Error()
		}
		return ""
	}
}

// waitsFor holds when the operator is alive, not ready, and says what it waits for.
func waitsFor(op *operator.Operator, what string) func(context.Context) string {
	return func(context.Context) string {
		if err := op.Ready(); err == nil || err.Error() != "waiting for "+what {
			return fmt.Sprintf("operator says %v, want: waiting for %s", err, what)
		}
		return ""
	}
}

func startedOnce(c *controller) func(context.Context) string {
	return func(context.Context) string {
		if got := c.started.Load(); got != 1 {
			return fmt.Sprintf("%s was set up %d times, want once", c.Name, got)
		}
		return ""
	}
}

// installCRD makes the API server serve a kind of a test.
func installCRD(t *testing.T, kind schema.GroupVersionKind, plural string) {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + kind.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: kind.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind.Kind},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: kind.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"},
				},
			}},
		},
	}
	create(t, server.Client(t, apiextensionsv1.AddToScheme), crd)
}

// create makes an object and deletes it when the test ends.
func create(t *testing.T, c client.Client, obj client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), obj); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	})
}
