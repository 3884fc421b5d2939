package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/flotilla-k8s/flotilla/tools/cluster/lifecycle"
)

func loadCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "load ARCHIVE...",
		Short: "Put image archives into the cluster's registry, and onto its nodes",
		Args:  cobra.MinimumNArgs(1),
	}
	name := addName(cmd)
	to := cmd.Flags().String("to", string(lifecycle.ToAll), "registry, nodes or all")
	cmd.RunE = func(cmd *cobra.Command, archives []string) error {
		m, err := newManager(cmd)
		if err != nil {
			return err
		}
		switch lifecycle.Destination(*to) {
		case lifecycle.ToRegistry, lifecycle.ToNodes, lifecycle.ToAll:
		default:
			return fmt.Errorf("--to=%s: want registry, nodes or all", *to)
		}
		names, err := m.Load(cmd.Context(), *name, archives, lifecycle.Destination(*to))
		if err != nil {
			return err
		}
		for _, image := range names {
			fmt.Fprintln(cmd.OutOrStdout(), image)
		}
		return nil
	}
	return cmd
}
