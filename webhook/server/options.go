package server

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/clock"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/flotilla-k8s/flotilla/shared/gates"
	"github.com/flotilla-k8s/flotilla/webhook/cert"
)

// Options says how the service runs. An address "0" switches that server off.
type Options struct {
	// Version is what the service calls itself; it may be empty.
	Version string
	// Families whose hooks are served.
	Families []string
	Gates    gates.Set

	// Namespace, Service and Secret are names of the installation.
	Namespace string
	Service   string
	Secret    string
	// Host makes the API server call this DNS name instead of the Service.
	Host string
	// ListenHost is the address to listen on; empty means all.
	ListenHost string
	// Port is where admission and conversion are served.
	Port int

	MetricsAddr     string
	HealthProbeAddr string

	// AllowPrivileged accepts privileged containers in templates.
	AllowPrivileged bool
	// ProtectionLogPath is the directory of protection.log, used only with gate ResourcesDeletionProtection.
	ProtectionLogPath string
	// RenewBefore is how long before its end a certificate is replaced.
	RenewBefore time.Duration

	// Registry takes the metrics of this service.
	Registry prometheus.Registerer
	Clock    clock.PassiveClock
	// SharedProcess says that several services live in this process, as in tests.
	SharedProcess bool
}

// DefaultOptions returns the options of a service without flags and environment.
func DefaultOptions() Options {
	return Options{ //nolint:gosec // Secret is the name of one
		Families:          []string{"workloads"},
		Gates:             gates.Default(),
		Namespace:         "flotilla-system",
		Service:           "kruise-webhook-service",
		Secret:            "kruise-webhook-certs",
		Port:              9876,
		MetricsAddr:       ":8080",
		HealthProbeAddr:   ":8000",
		AllowPrivileged:   true,
		ProtectionLogPath: "/log",
		RenewBefore:       cert.DefaultRenewBefore,
		Registry:          ctrlmetrics.Registry,
		Clock:             clock.RealClock{},
	}
}

// BindFlags adds the flags of the service, except --feature-gates.
func (o *Options) BindFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.Families, "families", o.Families, "Families whose admission hooks are served; others depend on this service in no way.")
	fs.StringVar(&o.MetricsAddr, "metrics-addr", o.MetricsAddr, "Address of /metrics; 0 switches it off.")
	fs.StringVar(&o.HealthProbeAddr, "health-probe-addr", o.HealthProbeAddr, "Address of /healthz and /readyz; 0 switches them off.")
	fs.BoolVar(&o.AllowPrivileged, "allow-privileged", o.AllowPrivileged, "Accept privileged containers in pod templates.")
	fs.StringVar(&o.ProtectionLogPath, "protection-log-path", o.ProtectionLogPath, "Directory of protection.log, which gate ResourcesDeletionProtection writes.")
}

// ReadEnvironment takes over the variables of the reference (DEP-122 to DEP-130). A value that cannot be
// used is an error.
func (o *Options) ReadEnvironment(lookup func(string) (string, bool)) error {
	for name, field := range map[string]*string{
		"POD_NAMESPACE": &o.Namespace,
		"SERVICE_NAME":  &o.Service,
		"SECRET_NAME":   &o.Secret,
		"WEBHOOK_HOST":  &o.Host,
	} {
		if value, set := lookup(name); set && value != "" {
			*field = value
		}
	}
	if value, set := lookup("WEBHOOK_PORT"); set && value != "" {
		port, err := strconv.ParseUint(value, 10, 16)
		if err != nil || port == 0 {
			return fmt.Errorf("reading WEBHOOK_PORT %q: must be a port number", value)
		}
		o.Port = int(port)
	}
	if value, set := lookup("CERTS_RENEW_BEFORE"); set && value != "" {
		renewBefore, err := parseRenewBefore(value)
		if err != nil {
			return fmt.Errorf("reading CERTS_RENEW_BEFORE %q: %w", value, err)
		}
		o.RenewBefore = renewBefore
	}
	// Certificates are made for names. An address would never verify.
	if o.Host != "" && (net.ParseIP(o.Host) != nil || len(validation.IsDNS1123Subdomain(o.Host)) > 0) {
		return fmt.Errorf("reading WEBHOOK_HOST %q: must be a DNS name", o.Host)
	}
	return nil
}

// parseRenewBefore reads a number of days, months of 30 days or years of 365 days, such as "90d" (WH-88).
// It must be shorter than a certificate lives, or a new one would be made without end (WH-89).
func parseRenewBefore(text string) (time.Duration, error) {
	units := map[byte]time.Duration{'d': day, 'm': 30 * day, 'y': 365 * day}
	unit, known := units[text[len(text)-1]]
	number, err := strconv.ParseUint(text[:len(text)-1], 10, 16)
	if !known || err != nil || number == 0 {
		return 0, errors.New("must be a number above 0 followed by d, m or y")
	}
	renewBefore := time.Duration(number) * unit
	if renewBefore >= cert.ServingLife {
		return 0, fmt.Errorf("must be shorter than the life of a certificate, %dd", cert.ServingLife/day)
	}
	return renewBefore, nil
}

const day = 24 * time.Hour
