package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/flotilla-k8s/flotilla/tools/cluster/host"
	"github.com/flotilla-k8s/flotilla/tools/cluster/layout"
	"github.com/flotilla-k8s/flotilla/tools/cluster/lifecycle"
	"github.com/flotilla-k8s/flotilla/tools/cluster/parts"
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
