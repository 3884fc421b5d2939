package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
)

func logsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "logs PART", Short: "Show the log of a part, for example kube-apiserver or node-1/kubelet", Args: cobra.ExactArgs(1),
	}
	name := addName(cmd)
	follow := cmd.Flags().BoolP("follow", "f", false, "go on as the log grows")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		m, err := newManager(cmd)
		if err != nil {
			return err
		}
		c, err := m.Find(*name)
		if err != nil {
			return err
		}
		path, err := logOf(c, args[0])
		if err != nil {
			return err
		}
		return copyLog(cmd.Context(), cmd.OutOrStdout(), path, *follow)
	}
	return cmd
}

func logOf(c plan.Cluster, part string) (string, error) {
	var known []string
	for _, p := range c.Processes() {
		if p.ID() == part {
			return c.Log(p.Machine, p.Name), nil
		}
		known = append(known, p.ID())
	}
	return "", fmt.Errorf("cluster %q has no part %q; it has %q", c.Name, part, known)
}

// copyLog writes a log out, and with follow goes on until the context ends.
func copyLog(ctx context.Context, out io.Writer, path string, follow bool) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening the log: %w", err)
	}
	defer func() { _ = file.Close() }() // read only: nothing can be lost
	for {
		if _, err := io.Copy(out, file); err != nil {
			return fmt.Errorf("reading the log: %w", err)
		}
		if !follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(300 * time.Millisecond):
		}
	}
}
