package main

import (
	"log"

	"github.com/spf13/cobra"

	"github.com/flotilla-k8s/flotilla/tools/cluster/machine"
	"github.com/flotilla-k8s/flotilla/tools/cluster/registry"
)

// registryCommand and machineCommand are what this program starts of itself.
func registryCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "registry", Short: "Serve images from a directory", Args: cobra.NoArgs, Hidden: true}
	dir := cmd.Flags().String("dir", "", "directory of blobs and manifests")
	listen := cmd.Flags().String("listen", "", "address to serve at")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return registry.Serve(cmd.Context(), *dir, *listen, log.New(cmd.ErrOrStderr(), "", log.LstdFlags))
	}
	return cmd
}

func machineCommand() *cobra.Command {
	return &cobra.Command{
		Use: machine.Subcommand + " SPEC", Short: "Become the first process of a machine", Args: cobra.ExactArgs(1), Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error { return machine.Become(args[0]) },
	}
}
