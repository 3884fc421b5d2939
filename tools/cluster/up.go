package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/flotilla-k8s/flotilla/tools/cluster/lifecycle"
)

func upCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Bring a cluster up, or mend one that runs, and print the path of its kubeconfig",
		Long: "Bring a cluster up, or mend one that runs, and print the path of its kubeconfig.\n" +
			"Real nodes need root. The first run builds Kubernetes, which takes about 20 minutes on two cores.",
		Args: cobra.NoArgs,
	}
	name := addName(cmd)
	nodes := cmd.Flags().Int("nodes", lifecycle.DefaultNodes, "real nodes, each with its own containerd and kubelet")
	simulated := cmd.Flags().Int("simulated", 0, "nodes that are only played, for scale")
	timeout := cmd.Flags().Duration("timeout", 3*time.Minute, "how long to wait for the cluster to be ready, once its programs are built")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		m, err := newManager(cmd)
		if err != nil {
			return err
		}
		wish := lifecycle.Wish{Name: *name, Timeout: *timeout}
		if cmd.Flags().Changed("nodes") {
			wish.Nodes = nodes
		}
		if cmd.Flags().Changed("simulated") {
			wish.Simulated = simulated
		}
		c, err := m.Up(cmd.Context(), wish)
		if err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), c.AdminKubeconfig())
		return nil
	}
	return cmd
}
