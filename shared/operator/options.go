package operator

import (
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/flotilla-k8s/flotilla/shared/gates"
)

const (
	// namespaceVariable holds the namespace of the installation (DEP-122).
	namespaceVariable = "POD_NAMESPACE"
	defaultNamespace  = "flotilla-system"
)

// Options is how an operator runs. Addresses may be empty or "0", which switches the server off.
type Options struct {
	// Namespace of the installation: the lease, the webhook service and the run-time configuration.
	Namespace string
	// WatchNamespace restricts the cache to one namespace; empty means all (DEP-92).
	WatchNamespace string

	MetricsAddr     string
	HealthProbeAddr string
	PprofAddr       string

	LeaderElection LeaderElection

	// SyncPeriod is how often every object is looked at without a change; 0 is the library's default.
	SyncPeriod time.Duration
	// CacheSyncTimeout is how long a controller waits for its first lists before the process exits.
	CacheSyncTimeout time.Duration
	// ReconciliationTimeout ends a single pass, for example one that waits for the cache to see its own
	// write after the watch broke. The pass is then repeated. Controllers may set their own.
	ReconciliationTimeout time.Duration
	// RecheckPeriod is how often an unmet condition of the start is looked at again.
	RecheckPeriod time.Duration

	// QPS and Burst limit the requests to the API server. 0 means no limit here: the priority and
	// fairness of the API server is the limit.
	QPS   float32
	Burst int

	Queue QueueLimits
	Gates gates.Set

	Clock clock.WithTicker
	// Registry takes the metrics of this operator.
	Registry interface {
		prometheus.Registerer
		prometheus.Gatherer
	}
	// SharedProcess says that several operators live in this process, as in tests, so that names of
	// controllers may repeat.
	SharedProcess bool
}

// LeaderElection is how replicas agree on who runs the controllers (DEP-87 to DEP-91).
type LeaderElection struct {
	Enabled       bool
	Namespace     string
	ID            string
	LeaseDuration time.Duration
	RenewDeadline time.Duration
	RetryPeriod   time.Duration
}

// QueueLimits is the rate limit of each controller's queue: exponential for one object, and a bucket
// over all objects (DEP-101).
type QueueLimits struct {
	BaseDelay  time.Duration
	MaxDelay   time.Duration
	QPS        int
	BucketSize int
}

// DefaultOptions returns the options of an operator whose flags are all left alone.
func DefaultOptions(app App) Options {
	namespace := os.Getenv(namespaceVariable)
	if namespace == "" {
		namespace = defaultNamespace
	}
	return Options{
		Namespace:       namespace,
		MetricsAddr:     ":8080",
		HealthProbeAddr: ":8000",
		LeaderElection: LeaderElection{
			Enabled:       true,
			Namespace:     namespace,
			ID:            app.Name,
			LeaseDuration: 15 * time.Second,
			RenewDeadline: 10 * time.Second,
			RetryPeriod:   2 * time.Second,
		},
		CacheSyncTimeout:      2 * time.Minute,
		ReconciliationTimeout: 2 * time.Minute,
		RecheckPeriod:         2 * time.Second,
		Queue:                 QueueLimits{BaseDelay: 5 * time.Millisecond, MaxDelay: 1000 * time.Second, QPS: 10, BucketSize: 100},
		Gates:                 gates.Default(),
		Clock:                 clock.RealClock{},
		Registry:              ctrlmetrics.Registry,
	}
}

// BindFlags adds the flags of the reference's manager that every operator has (section 4.1 of the
// deployment rules). Flags of single controllers are bound by the controllers.
func (o *Options) BindFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.MetricsAddr, "metrics-addr", o.MetricsAddr, "Address of /metrics; 0 switches it off.")
	fs.StringVar(&o.HealthProbeAddr, "health-probe-addr", o.HealthProbeAddr, "Address of /healthz and /readyz; 0 switches them off.")
	fs.StringVar(&o.PprofAddr, "pprof-addr", o.PprofAddr, "Address of the profiler, for example localhost:8090; empty switches it off.")
	fs.StringVar(&o.WatchNamespace, "namespace", o.WatchNamespace, "Only objects of this namespace are cached and reconciled; empty means all.")
	fs.DurationVar(&o.SyncPeriod, "sync-period", o.SyncPeriod, "How often every object is reconciled without a change; 0 is about ten hours.")
	fs.DurationVar(&o.CacheSyncTimeout, "controller-cache-sync-timeout", o.CacheSyncTimeout, "How long a controller waits for its first lists.")
	fs.Float32Var(&o.QPS, "rest-config-qps", o.QPS, "Requests per second to the API server; 0 means no limit on this side.")
	fs.IntVar(&o.Burst, "rest-config-burst", o.Burst, "Requests to the API server that may exceed --rest-config-qps at once.")
	o.LeaderElection.bindFlags(fs)
	o.Queue.bindFlags(fs)
}

func (l *LeaderElection) bindFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&l.Enabled, "enable-leader-election", l.Enabled, "Only one replica runs the controllers.")
	fs.StringVar(&l.Namespace, "leader-election-namespace", l.Namespace, "Namespace of the lease.")
	fs.StringVar(&l.ID, "leader-election-id", l.ID, "Name of the lease.")
	fs.DurationVar(&l.LeaseDuration, "leader-election-lease-duration", l.LeaseDuration, "How long a lease is valid without renewal.")
	fs.DurationVar(&l.RenewDeadline, "leader-election-renew-deadline", l.RenewDeadline, "How long the leader tries to renew before it gives up.")
	fs.DurationVar(&l.RetryPeriod, "leader-election-retry-period", l.RetryPeriod, "Time between tries to get or renew the lease.")
}

func (q *QueueLimits) bindFlags(fs *pflag.FlagSet) {
	fs.DurationVar(&q.BaseDelay, "rate-limiter-base-delay", q.BaseDelay, "Delay before the first retry of an object.")
	fs.DurationVar(&q.MaxDelay, "rate-limiter-max-delay", q.MaxDelay, "Longest delay before a retry of an object.")
	fs.IntVar(&q.QPS, "rate-limiter-qps", q.QPS, "Retries per second of one controller.")
	fs.IntVar(&q.BucketSize, "rate-limiter-bucket-size", q.BucketSize, "Retries of one controller that may exceed --rate-limiter-qps at once.")
}

func (q QueueLimits) newLimiter() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedMaxOfRateLimiter(
		workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](q.BaseDelay, q.MaxDelay),
		&workqueue.TypedBucketRateLimiter[reconcile.Request]{Limiter: rate.NewLimiter(rate.Limit(q.QPS), q.BucketSize)},
	)
}
