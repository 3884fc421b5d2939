package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/flotilla-k8s/flotilla/tools/cluster/host"
	"github.com/flotilla-k8s/flotilla/tools/cluster/layout"
	"github.com/flotilla-k8s/flotilla/tools/cluster/lifecycle"
	"github.com/flotilla-k8s/flotilla/tools/cluster/machine"
	"github.com/flotilla-k8s/flotilla/tools/cluster/parts"
	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/cluster/registry"
	"github.com/flotilla-k8s/flotilla/tools/cluster/report"
)

// newManager returns the manager of this user's clusters.
func newManager(cmd *cobra.Command) (lifecycle.Manager, error) {
	dirs, err := layout.FromEnv(os.Getenv)
	if err != nil {
		return lifecycle.Manager{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return lifecycle.Manager{}, fmt.Errorf("finding this program: %w", err)
	}
	return lifecycle.Manager{
		Dirs:     dirs,
		Builder:  func() (parts.Builder, error) { return newBuilder(cmd) },
		Self:     self,
		Progress: cmd.ErrOrStderr(),
		Now:      time.Now,
		Cgroups:  host.Cgroups{Root: "/sys/fs/cgroup"},
	}, nil
}

func addName(cmd *cobra.Command) *string {
	return cmd.Flags().String("name", lifecycle.DefaultName, "name of the cluster")
}

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
	defer file.Close()
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
