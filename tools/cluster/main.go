package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := rootCommand().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "cluster",
		Short:         "Run a real Kubernetes on this machine, from published Go modules",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(buildCommand(), upCommand(), downCommand(), statusCommand(), listCommand(), logsCommand(), loadCommand(), execCommand(),
		registryCommand(), machineCommand())
	return root
}
