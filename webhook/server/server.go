package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/flotilla-k8s/flotilla/shared/gates"
	"github.com/flotilla-k8s/flotilla/webhook/cert"
	"github.com/flotilla-k8s/flotilla/webhook/convert"
	"github.com/flotilla-k8s/flotilla/webhook/protect"
	"github.com/flotilla-k8s/flotilla/webhook/registration"
)

// name is the Deployment, the field manager and, with the version, the user agent.
const name = "kruise-webhook"

// Deps is what families are built from.
type Deps struct {
	Gates gates.Set
	// Namespace is that of the installation.
	Namespace       string
	AllowPrivileged bool
	// Reader reads from the API server.
	Reader client.Reader
	// Refusals is nil unless gate ResourcesDeletionProtection is on.
	Refusals *protect.Record
}

// Server is one replica of the service. Every replica does everything (WH-2).
type Server struct {
	opts         Options
	manager      ctrl.Manager
	served       *cert.Served
	registration *registration.Reconciler
}

// New builds a replica. Nothing is sent before Start.
func New(cfg *rest.Config, opts Options) (*Server, error) {
	served := &cert.Served{}
	mgr, err := newManager(cfg, opts, served)
	if err != nil {
		return nil, err
	}
	deps := Deps{Gates: opts.Gates, Namespace: opts.Namespace, AllowPrivileged: opts.AllowPrivileged, Reader: mgr.GetAPIReader()}
	if opts.Gates.Enabled(gates.ResourcesDeletionProtection) {
		if deps.Refusals, err = openRecord(opts); err != nil {
			return nil, err
		}
	}
	all, err := enabled(opts.Families, deps)
	if err != nil {
		return nil, err
	}
	serve(mgr.GetWebhookServer(), all.handlers)
	s := &Server{opts: opts, manager: mgr, served: served, registration: newRegistration(mgr, opts, served, all)}
	if err := s.registration.SetupWithManager(mgr); err != nil {
		return nil, fmt.Errorf("setting up registration: %w", err)
	}
	if err := opts.Registry.Register(opts.Gates.Collector()); err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	return s, s.addProbes()
}

// Start serves until the context ends, which is no error, or until it cannot go on.
func (s *Server) Start(ctx context.Context) error {
	log := s.manager.GetLogger()
	log.Info("Starting", "version", s.opts.Version, "families", s.opts.Families)
	s.opts.Gates.Log(log)
	return s.manager.Start(ctx)
}

func newManager(cfg *rest.Config, opts Options, served *cert.Served) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, admissionv1.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("adding types to scheme: %w", err)
		}
	}
	cfg = rest.CopyConfig(cfg)
	cfg.UserAgent = name + "/" + opts.Version
	// No limit here: an admission request must not wait for a queue of its own making.
	cfg.QPS = -1
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:                 scheme,
		Cache:                  registration.CacheOptions(opts.secret()),
		Metrics:                metricsserver.Options{BindAddress: opts.MetricsAddr},
		HealthProbeBindAddress: opts.HealthProbeAddr,
		Controller:             config.Controller{SkipNameValidation: &opts.SharedProcess},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host:    opts.ListenHost,
			Port:    opts.Port,
			TLSOpts: []func(*tls.Config){func(c *tls.Config) { c.GetCertificate = served.GetCertificate }},
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("building manager: %w", err)
	}
	return mgr, nil
}

// serve fills the path table (WH-4).
func serve(server webhook.Server, handlers map[string]admission.Handler) {
	for path, handler := range handlers {
		server.Register(path, &admission.Webhook{Handler: handler})
	}
	server.Register(convert.Path, convert.Handler{})
	server.Register(healthPath, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
}

func newRegistration(mgr ctrl.Manager, opts Options, served *cert.Served, all family) *registration.Reconciler {
	target := registration.Target{Namespace: opts.Namespace, Service: opts.Service, Host: opts.Host, Port: opts.Port}
	return &registration.Reconciler{
		Client:         client.WithFieldOwner(mgr.GetClient(), name),
		Clock:          opts.Clock,
		Certificates:   certificates(mgr.GetClient(), opts, target.DNSNames()),
		Served:         served,
		Target:         target,
		Hooks:          all.hooks,
		CRDs:           all.crds,
		ConversionPath: convert.Path,
	}
}

func certificates(c client.Client, opts Options, names []string) registration.Certificates {
	if opts.Gates.Enabled(gates.EnableExternalCerts) {
		return cert.External{Client: c, Secret: opts.secret()}
	}
	return cert.SelfSigned{
		Client: c,
		Secret: opts.secret(),
		Issuer: cert.Issuer{DNSNames: names, RenewBefore: opts.RenewBefore},
		Labels: map[string]string{"app.kubernetes.io/part-of": "flotilla", "control-plane": name},
	}
}

func (o Options) secret() client.ObjectKey {
	return client.ObjectKey{Namespace: o.Namespace, Name: o.Secret}
}

func (s *Server) addProbes() error {
	if err := s.manager.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("adding liveness probe: %w", err)
	}
	if err := s.manager.AddReadyzCheck("webhook-ready", s.ready); err != nil {
		return fmt.Errorf("adding readiness probe: %w", err)
	}
	return nil
}
