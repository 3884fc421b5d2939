// Package node knows how the daemon of one node starts: its flags, its cache of the node's pods, the
// search for the container runtime, its endpoints, and which parts run.
package node

import (
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/flotilla-k8s/flotilla/daemon/cri"
	"github.com/flotilla-k8s/flotilla/daemon/meta"
	"github.com/flotilla-k8s/flotilla/daemon/restart"
	"github.com/flotilla-k8s/flotilla/shared/gates"
)

const (
	// name is the user agent, and the source of events on the node.
	name = "kruise-daemon"
	// eventSource is the source of events on pods (D-11).
	eventSource = "kruise-daemon-containermeta"
)

// Daemon is a daemon that is ready to be started.
type Daemon struct {
	opts    Options
	manager ctrl.Manager
	finder  *cri.Finder
}

// New builds the daemon of a node. Nothing is sent before Start. A missing node name, an endpoint that
// cannot be read, and addresses that cannot be bound are errors.
func New(ctx context.Context, cfg *rest.Config, opts Options) (*Daemon, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	sockets, err := cri.Sockets(opts.RuntimeEndpoint, opts.SocketFile, opts.SocketDir)
	if err != nil {
		return nil, err
	}
	d := &Daemon{opts: opts}
	if d.manager, err = ctrl.NewManager(restConfig(cfg, opts), d.managerOptions()); err != nil {
		return nil, fmt.Errorf("building manager: %w", err)
	}
	recorder := d.manager.GetEventRecorder(name)
	d.finder = cri.NewFinder(sockets, opts.Clock, reportRuntime(recorder, opts.NodeName, d.manager.GetLogger()))
	if err := d.addParts(ctx); err != nil {
		return nil, err
	}
	return d, nil
}

// Start runs the daemon until the context ends, which is no error.
func (d *Daemon) Start(ctx context.Context) error {
	d.opts.Gates.Log(d.manager.GetLogger())
	return d.manager.Start(ctx)
}

// addParts adds what the gates allow.
func (d *Daemon) addParts(ctx context.Context) error {
	if err := d.opts.Registry.Register(d.opts.Gates.Collector()); err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	if err := d.manager.Add(d.finder); err != nil {
		return fmt.Errorf("adding search for the container runtime: %w", err)
	}
	var checks []check
	if d.opts.Gates.Enabled(gates.DaemonWatchingPod) {
		synced, err := d.addContainerMeta(ctx)
		if err != nil {
			return err
		}
		checks = append(checks, check{name: "podInformerSynced", err: synced})
	}
	return d.serve(append(checks, check{name: "containerRuntime", err: d.finder.Healthy}))
}

// addContainerMeta adds the report of containers, and their restart for new env, and returns the check of
// the cache of pods.
func (d *Daemon) addContainerMeta(ctx context.Context) (synced func() error, err error) {
	withEnv := d.opts.Gates.Enabled(gates.InPlaceUpdateEnvFromMetadata)
	reporter := &meta.Reconciler{Client: d.manager.GetClient(), Runtimes: d.finder, WithEnv: withEnv}
	if err := meta.SetUp(d.manager, reporter, meta.Options{Clock: d.opts.Clock, Random: d.opts.Random}); err != nil {
		return nil, err
	}
	if withEnv {
		restarter := &restart.Reconciler{
			Reader:   d.manager.GetClient(),
			Runtimes: d.finder,
			Clock:    d.opts.Clock,
			Recorder: d.manager.GetEventRecorder(eventSource),
		}
		if err := restart.SetUp(d.manager, restarter, d.opts.Clock); err != nil {
			return nil, err
		}
	}
	informer, err := d.manager.GetCache().GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("building pod informer: %w", err)
	}
	return func() error {
		if !informer.HasSynced() {
			return errNotSynced
		}
		return nil
	}, nil
}

func (d *Daemon) serve(checks []check) error {
	for path, handler := range map[string]http.HandlerFunc{"/healthz": healthz(checks), "/livez": ok} {
		if err := d.manager.AddMetricsServerExtraHandler(path, handler); err != nil {
			return fmt.Errorf("serving %s: %w", path, err)
		}
	}
	return nil
}

func (d *Daemon) managerOptions() ctrl.Options {
	return ctrl.Options{
		Scheme:                 clientgoscheme.Scheme,
		Cache:                  cacheOptions(d.opts.NodeName),
		Client:                 client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},
		Metrics:                metricsserver.Options{BindAddress: d.opts.Addr},
		HealthProbeBindAddress: "0", // served beside the metrics
		PprofBindAddress:       d.opts.pprofAddr(),
		Controller:             config.Controller{SkipNameValidation: &d.opts.SharedProcess},
	}
}

func restConfig(cfg *rest.Config, opts Options) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.UserAgent = name
	if opts.QPS > 0 {
		cfg.QPS = opts.QPS
	}
	if opts.Burst > 0 {
		cfg.Burst = opts.Burst
	}
	return cfg
}
