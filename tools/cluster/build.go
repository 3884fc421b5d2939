package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/flotilla-k8s/flotilla/tools/cluster/layout"
	"github.com/flotilla-k8s/flotilla/tools/cluster/parts"
)

func buildCommand() *cobra.Command {
	var valid []string
	for _, part := range parts.All() {
		valid = append(valid, part.Name)
	}
	return &cobra.Command{
		Use:   "build [PART...]",
		Short: "Build the programs of a cluster and print the directory they are in",
		Long: "Build the programs of a cluster, all of them or the named parts, unless they are built already.\n" +
			"The directory printed last serves as KUBEBUILDER_ASSETS: etcd, kube-apiserver and kubectl are in it.",
		ValidArgs: valid,
		RunE: func(cmd *cobra.Command, names []string) error {
			builder, err := newBuilder(cmd)
			if err != nil {
				return err
			}
			bin, err := builder.Build(cmd.Context(), names...)
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), bin)
			return nil
		},
	}
}

// newBuilder returns a builder for the source tree around the working directory.
func newBuilder(cmd *cobra.Command) (parts.Builder, error) {
	dirs, err := layout.FromEnv(os.Getenv)
	if err != nil {
		return parts.Builder{}, err
	}
	here, err := os.Getwd()
	if err != nil {
		return parts.Builder{}, fmt.Errorf("finding the source tree: %w", err)
	}
	source, err := parts.FindSource(here)
	if err != nil {
		return parts.Builder{}, err
	}
	return parts.Builder{Source: source, Cache: dirs.Cache, Progress: cmd.ErrOrStderr()}, nil
}
