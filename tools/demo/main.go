// Command demo shows Flotilla at work on this machine: it brings a cluster up, installs Flotilla into it, takes a
// CloneSet through updates in place while a load runs against it, and says which promises were kept.
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
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func rootCommand() *cobra.Command {
	o := options{out: os.Stdout}
	root := &cobra.Command{
		Use:   "demo",
		Short: "Bring a cluster up, install Flotilla and take a CloneSet through updates in place, under load",
		Long: "Demo brings a cluster up, installs Flotilla and takes a CloneSet of six pods through updates in place,\n" +
			"under load. It fails if a pod was replaced, a request was lost or a broken image spread. Without root, or\n" +
			"with --simulated, nodes are simulated: then no load can be sent, and no image can be broken.",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return o.demo(cmd.Context()) },
	}
	f := root.PersistentFlags()
	f.StringVar(&o.name, "name", "", "cluster to use or make (default flotilla, flotilla-simulated for simulated nodes)")
	f.BoolVar(&o.simulated, "simulated", os.Geteuid() != 0, "use simulated nodes, for which no root is needed")
	root.Flags().BoolVar(&o.down, "down", false, "take the cluster down at the end instead of keeping it")
	root.Flags().IntVar(&o.rate, "rate", 50, "requests a second")
	root.AddCommand(installCommand(&o), downCommand(&o))
	return root
}

func downCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Take the cluster down, and with simulated nodes the processes that the demo started",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := newGround(cmd.Context(), *o)
			if err != nil {
				return err
			}
			return g.takeDown(cmd.Context())
		},
	}
}

func installCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "install",
		Short: "Install Flotilla and the test images into a cluster that runs, and wait until it is ready",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := newGround(cmd.Context(), *o)
			if err != nil {
				return err
			}
			c, err := g.find()
			if err != nil {
				return err
			}
			return g.install(cmd.Context(), c)
		},
	}
}
