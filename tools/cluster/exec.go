package main

import (
	"fmt"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/flotilla-k8s/flotilla/tools/cluster/machine"
)

func execCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "exec MACHINE -- COMMAND [ARG...]",
		Short:   "Run a command inside a node or the control plane, in its network and file system",
		Example: "  cluster exec node-1 -- iptables -t nat -L\n  cluster exec control-plane -- ip address",
		Args:    cobra.MinimumNArgs(2),
	}
	name := addName(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		m, err := newManager(cmd)
		if err != nil {
			return err
		}
		first, bin, err := m.Machine(*name, args[0])
		if err != nil {
			return err
		}
		// The cluster's own programs, ctr above all, are found first.
		if err := os.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH")); err != nil {
			return fmt.Errorf("setting PATH: %w", err)
		}
		inside := exec.CommandContext(cmd.Context(), args[1], args[2:]...)
		inside.Stdin, inside.Stdout, inside.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
		return machine.Run(first, inside)
	}
	return cmd
}
