package main

import (
	"github.com/spf13/cobra"

	"github.com/flotilla-k8s/flotilla/tools/cluster/report"
)

func statusCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "status", Short: "Show a cluster's parts and nodes", Args: cobra.NoArgs}
	name := addName(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		m, err := newManager(cmd)
		if err != nil {
			return err
		}
		status, err := m.Status(cmd.Context(), *name)
		if err != nil {
			return err
		}
		return status.Write(cmd.OutOrStdout())
	}
	return cmd
}

func listCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List all clusters", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := newManager(cmd)
			if err != nil {
				return err
			}
			list, err := m.List(cmd.Context())
			if err != nil {
				return err
			}
			return report.WriteList(cmd.OutOrStdout(), list)
		},
	}
}
