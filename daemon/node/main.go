package node

import (
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/component-base/cli"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/flotilla-k8s/flotilla/shared/gates"
)

// nodeNameVariable holds the name of the node (D-4).
const nodeNameVariable = "NODE_NAME"

// Main runs the daemon until it is told to stop, and returns the exit code of the process.
func Main() int {
	return cli.Run(newCommand())
}

func newCommand() *cobra.Command {
	random := rand.Float64() //nolint:gosec // it spreads retries
	opts := DefaultOptions(os.Getenv(nodeNameVariable), random)
	gateFlag := gates.NewFlag()
	logging := logsapi.NewLoggingConfiguration()
	cmd := &cobra.Command{
		Use:  name,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := logsapi.ValidateAndApply(logging, nil); err != nil {
				return err
			}
			ctrl.SetLogger(klog.Background())
			opts.Gates = gateFlag.Set()
			return run(cmd.Context(), opts)
		},
	}
	fs := cmd.PersistentFlags()
	opts.BindFlags(fs)
	gateFlag.Bind(fs)
	logsapi.AddFlags(logging, fs)
	addLibraryFlags(fs)
	return cmd
}

// addLibraryFlags adds --kubeconfig, and the flags of klog that the logging configuration does not
// cover, so that a command line written for the reference is still accepted (DEP-99).
func addLibraryFlags(fs *pflag.FlagSet) {
	libraries := flag.NewFlagSet(name, flag.ContinueOnError)
	config.RegisterFlags(libraries)
	klog.InitFlags(libraries)
	libraries.VisitAll(func(f *flag.Flag) {
		if fs.Lookup(f.Name) == nil {
			fs.AddGoFlag(f)
		}
	})
}

func run(ctx context.Context, opts Options) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)

	cfg, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	daemon, err := New(ctx, cfg, opts)
	if err != nil {
		return err
	}
	return daemon.Start(ctx)
}
