package operator

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/flotilla-k8s/flotilla/shared/gates"
)

// App is one operator: a list of controllers and what they have in common.
type App struct {
	// Name is the name of the Deployment, the ServiceAccount, the Lease and the user agent (DEP-196).
	Name string
	// Schemes add the types that the controllers read and write. The built-in types are always there.
	Schemes []func(*runtime.Scheme) error
	// Hooks must be served before any controller begins.
	Hooks []Hook
	// Controllers of this operator.
	Controllers []Controller
	// Cache narrows what is cached, by selectors and transforms. Optional; managed fields are dropped
	// in any case.
	Cache func(*cache.Options)
}

// Hook is an admission hook that an operator depends on.
type Hook struct {
	// Name is the name of the hook in its webhook configuration, for example "mcloneset.kb.io".
	Name string
	// Gates must all be on for the hook to exist; otherwise it is not waited for.
	Gates []gates.Gate
}

// Controller is one controller of an operator.
type Controller struct {
	// Name is the name of the queue and of the metrics, for example "cloneset-controller" (DEP-176).
	Name string
	// Kind is the controller's own kind. The controller starts when it is served, also when that is
	// long after the start of the process (DEP-199). Empty for a controller of a built-in kind.
	Kind schema.GroupVersionKind
	// Gates must all be on for the controller to run.
	Gates []gates.Gate
	// BindFlags adds the flags of this controller. Optional.
	BindFlags func(*pflag.FlagSet)
	// Setup registers indexes and the controller itself at the manager, which is already running. It
	// is called once, in the leader only. An error ends the process.
	Setup func(context.Context, Deps) error
}

// Deps is what a controller is given to work with.
type Deps struct {
	Manager ctrl.Manager
	// Client reads from the cache and waits there for this process's own writes.
	Client client.Client
	// Reader reads from the API server.
	Reader client.Reader
	Clock  clock.WithTicker
	Gates  gates.Set
	// Metrics is where the metrics of a controller are registered.
	Metrics prometheus.Registerer
	// Recorder returns the recorder of events under a component name (DEP-177).
	Recorder func(component string) events.EventRecorder
	// RateLimiter returns a new limiter of a queue, as the flags say (DEP-101).
	RateLimiter func() workqueue.TypedRateLimiter[reconcile.Request]
}
