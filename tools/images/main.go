// Command images builds Flotilla's container images and those its tests run, without Docker.
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
	defer stop()
	root := &cobra.Command{
		Use:           "images",
		Short:         "Build Flotilla's container images without Docker",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(buildCommand())
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}
