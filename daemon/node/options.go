package node

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"k8s.io/utils/clock"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/flotilla-k8s/flotilla/daemon/cri"
	"github.com/flotilla-k8s/flotilla/shared/gates"
)

// Options is how the daemon runs.
type Options struct {
	// NodeName is the node that the daemon serves. It is mandatory (D-4).
	NodeName string

	// Addr serves /healthz, /livez and /metrics; "0" serves nothing.
	Addr        string
	EnablePprof bool
	PprofAddr   string

	// RuntimeEndpoint is a unix:// URI or an absolute path; it wins over SocketFile.
	RuntimeEndpoint string
	// SocketFile is a path relative to SocketDir.
	SocketFile string
	// SocketDir is where the node's sockets are mounted.
	SocketDir string

	// QPS and Burst limit the requests to the API server; 0 is the client's default.
	QPS   float32
	Burst int

	Gates gates.Set
	Clock clock.WithTicker
	// Random is between 0 and 1 and differs between nodes.
	Random   float64
	Registry prometheus.Registerer
	// SharedProcess says that several daemons live in this process, as in tests.
	SharedProcess bool
}

// DefaultOptions returns the options of a daemon whose flags are all left alone (section 1.1 of the
// daemon's rules; the profiler is off, K-14).
func DefaultOptions(node string, random float64) Options {
	return Options{
		NodeName:  node,
		Addr:      ":10221",
		PprofAddr: "localhost:10222",
		SocketDir: cri.HostRun,
		Gates:     gates.Default(),
		Clock:     clock.RealClock{},
		Random:    random,
		Registry:  ctrlmetrics.Registry,
	}
}

// BindFlags adds the daemon's flags.
func (o *Options) BindFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Addr, "addr", o.Addr, "Address of /healthz, /livez and /metrics; 0 switches them off.")
	fs.BoolVar(&o.EnablePprof, "enable-pprof", o.EnablePprof, "Serve the profiler.")
	fs.StringVar(&o.PprofAddr, "pprof-addr", o.PprofAddr, "Address of the profiler.")
	fs.StringVar(&o.RuntimeEndpoint, "runtime-endpoint", o.RuntimeEndpoint, "Socket of the container runtime, as unix:// URI or absolute path in the daemon's container; empty means that it is looked for.")
	fs.StringVar(&o.SocketFile, "socket-file", o.SocketFile, "Socket of the container runtime, relative to "+cri.HostRun+"; empty means that it is looked for.")
	fs.Float32Var(&o.QPS, "rest-config-qps", o.QPS, "Requests per second to the API server; 0 is the client's default.")
	fs.IntVar(&o.Burst, "rest-config-burst", o.Burst, "Requests to the API server that may exceed --rest-config-qps at once; 0 is the client's default.")
}

func (o *Options) validate() error {
	if o.NodeName == "" {
		return errors.New("environment variable " + nodeNameVariable + " is not set")
	}
	return nil
}

func (o *Options) pprofAddr() string {
	if !o.EnablePprof {
		return ""
	}
	return o.PprofAddr
}
