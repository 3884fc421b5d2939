package operator

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Operator is an App that is ready to be started.
type Operator struct {
	app     App
	opts    Options
	manager ctrl.Manager
	status  *status
}

// New builds an operator against an API server. Types that cannot be added and metrics that are already
// registered are errors.
func New(app App, cfg *rest.Config, opts Options) (*Operator, error) {
	scheme, err := newScheme(app)
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(restConfig(app, cfg, opts), managerOptions(app, scheme, opts))
	if err != nil {
		return nil, fmt.Errorf("building manager: %w", err)
	}
	op := &Operator{app: app, opts: opts, manager: mgr, status: newStatus()}
	if err := op.wire(); err != nil {
		return nil, err
	}
	return op, nil
}

// Start runs the operator until the context ends, which is no error, or until it cannot go on: the lease
// was lost, a controller could not be set up, or a server could not be started.
func (o *Operator) Start(ctx context.Context) error {
	log := o.manager.GetLogger()
	o.opts.Gates.Log(log)
	for _, c := range o.app.Controllers {
		if !o.opts.Gates.AllEnabled(c.Gates...) {
			log.Info("Controller is off by its feature gates", "controller", c.Name, "gates", c.Gates)
		}
	}
	return o.manager.Start(ctx)
}

// Ready returns nil when this replica runs its controllers or could lead, and else an error that says
// what it waits for.
func (o *Operator) Ready() error {
	return o.status.ready()
}

// Leading reports whether this replica holds the lease.
func (o *Operator) Leading() bool {
	select {
	case <-o.manager.Elected():
		return true
	default:
		return false
	}
}

// Deps returns what the controllers of this operator are given.
func (o *Operator) Deps() Deps {
	return Deps{
		Manager:     o.manager,
		Client:      o.manager.GetClient(),
		Reader:      o.manager.GetAPIReader(),
		Clock:       o.opts.Clock,
		Gates:       o.opts.Gates,
		Metrics:     o.opts.Registry,
		Recorder:    func(component string) events.EventRecorder { return o.manager.GetEventRecorder(component) },
		RateLimiter: o.opts.Queue.newLimiter,
	}
}

// wire adds the probes, the metrics and the two runnables that start the controllers.
func (o *Operator) wire() error {
	disco, err := discovery.NewDiscoveryClientForConfigAndClient(o.manager.GetConfig(), o.manager.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("building discovery client: %w", err)
	}
	if err := addHealthServer(o.manager, o.opts.HealthProbeAddr, o.status); err != nil {
		return err
	}
	if err := registerMetrics(o.opts.Registry, o); err != nil {
		return err
	}
	start := newStarter(o, disco)
	if err := o.manager.Add(everyReplica{start.awaitPrerequisites}); err != nil {
		return fmt.Errorf("adding start conditions: %w", err)
	}
	if err := o.manager.Add(leaderOnly{start.startControllers}); err != nil {
		return fmt.Errorf("adding controllers: %w", err)
	}
	return nil
}

func newScheme(app App) (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range append([]func(*runtime.Scheme) error{clientgoscheme.AddToScheme}, app.Schemes...) {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("adding types to scheme: %w", err)
		}
	}
	return scheme, nil
}

func restConfig(app App, cfg *rest.Config, opts Options) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.UserAgent = app.Name
	cfg.QPS, cfg.Burst = -1, 0
	if opts.QPS > 0 {
		cfg.QPS, cfg.Burst = opts.QPS, opts.Burst
	}
	return cfg
}

func managerOptions(app App, scheme *runtime.Scheme, opts Options) ctrl.Options {
	return ctrl.Options{
		Scheme: scheme,
		Cache:  cacheOptions(app, opts),
		Client: client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},

		LeaderElection:                opts.LeaderElection.Enabled,
		LeaderElectionNamespace:       opts.LeaderElection.Namespace,
		LeaderElectionID:              opts.LeaderElection.ID,
		LeaseDuration:                 &opts.LeaderElection.LeaseDuration,
		RenewDeadline:                 &opts.LeaderElection.RenewDeadline,
		RetryPeriod:                   &opts.LeaderElection.RetryPeriod,
		LeaderElectionReleaseOnCancel: true,

		Metrics:                metricsserver.Options{BindAddress: orOff(opts.MetricsAddr)},
		HealthProbeBindAddress: "0", // served by addHealthServer, which says what it waits for
		PprofBindAddress:       opts.PprofAddr,

		Controller: config.Controller{
			SkipNameValidation:    &opts.SharedProcess,
			CacheSyncTimeout:      opts.CacheSyncTimeout,
			ReconciliationTimeout: opts.ReconciliationTimeout,
		},
	}
}

func cacheOptions(app App, opts Options) cache.Options {
	o := cache.Options{DefaultTransform: cache.TransformStripManagedFields()}
	if opts.SyncPeriod > 0 {
		o.SyncPeriod = &opts.SyncPeriod
	}
	if opts.WatchNamespace != "" {
		o.DefaultNamespaces = map[string]cache.Config{opts.WatchNamespace: {}}
	}
	if app.Cache != nil {
		app.Cache(&o)
	}
	return o
}

// orOff keeps an empty metrics address from meaning the library's default address.
func orOff(addr string) string {
	if addr == "" {
		return "0"
	}
	return addr
}

// everyReplica runs whether this replica leads or not.
type everyReplica struct{ manager.RunnableFunc }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (everyReplica) NeedLeaderElection() bool { return false }

// leaderOnly runs once this replica leads.
type leaderOnly struct{ manager.RunnableFunc }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (leaderOnly) NeedLeaderElection() bool { return true }
