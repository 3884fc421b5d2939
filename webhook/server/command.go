package server

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/flotilla-k8s/flotilla/shared/gates"
)

// Main runs the service until it is told to stop, and returns the exit code of the process. version is
// what the service calls itself; it may be empty.
func Main(version string) int {
	return cli.Run(newCommand(version))
}

func newCommand(version string) *cobra.Command {
	opts := DefaultOptions()
	opts.Version = version
	gateFlag := gates.NewFlag()
	logging := logsapi.NewLoggingConfiguration()
	cmd := &cobra.Command{
		Use:     name,
		Version: version,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := logsapi.ValidateAndApply(logging, nil); err != nil {
				return err
			}
			ctrl.SetLogger(klog.Background())
			opts.Gates = gateFlag.Set()
			if err := opts.ReadEnvironment(os.LookupEnv); err != nil {
				return err
			}
			return run(cmd.Context(), opts)
		},
	}
	opts.BindFlags(cmd.Flags())
	gateFlag.Bind(cmd.Flags())
	logsapi.AddFlags(logging, cmd.Flags())
	return cmd
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
	s, err := New(cfg, opts)
	if err != nil {
		return err
	}
	return s.Start(ctx)
}
