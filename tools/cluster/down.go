package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/flotilla-k8s/flotilla/tools/cluster/lifecycle"
)

func downCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "down", Short: "Stop a cluster and remove everything it put on this machine", Args: cobra.NoArgs}
	name := addName(cmd)
	keep := cmd.Flags().Bool("keep-data", false, "keep its data for another up")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		m, err := newManager(cmd)
		if err != nil {
			return err
		}
		err = m.Down(cmd.Context(), *name, *keep)
		if errors.Is(err, lifecycle.ErrNoCluster) {
			fmt.Fprintf(cmd.ErrOrStderr(), "There is no cluster %q.\n", *name)
			return nil
		}
		return err
	}
	return cmd
}
