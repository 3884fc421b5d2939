package operator

import (
	"context"
	"flag"
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

	"github.com/flotilla-k8s/flotilla/shared/gates"
)

// Main runs an operator until it is told to stop, and returns the exit code of the process.
func Main(app App) int {
	return cli.Run(newCommand(app))
}

func newCommand(app App) *cobra.Command {
	opts := DefaultOptions(app)
	gateFlag := gates.NewFlag()
	logging := logsapi.NewLoggingConfiguration()
	cmd := &cobra.Command{
		Use:  app.Name,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := logsapi.ValidateAndApply(logging, nil); err != nil {
				return err
			}
			ctrl.SetLogger(klog.Background())
			opts.Gates = gateFlag.Set()
			return run(cmd.Context(), app, opts)
		},
	}
	fs := cmd.PersistentFlags()
	opts.BindFlags(fs)
	gateFlag.Bind(fs)
	logsapi.AddFlags(logging, fs)
	addKlogFlags(fs)
	for _, c := range app.Controllers {
		if c.BindFlags != nil {
			c.BindFlags(fs)
		}
	}
	return cmd
}

// addKlogFlags adds the flags of klog that the logging configuration does not cover, so that a command
// line written for the reference, with --logtostderr, is still accepted (DEP-99).
func addKlogFlags(fs *pflag.FlagSet) {
	klogFlags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(klogFlags)
	klogFlags.VisitAll(func(f *flag.Flag) {
		if fs.Lookup(f.Name) == nil {
			fs.AddGoFlag(f)
		}
	})
}

func run(ctx context.Context, app App, opts Options) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)

	cfg, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	op, err := New(app, cfg, opts)
	if err != nil {
		return err
	}
	return op.Start(ctx)
}
