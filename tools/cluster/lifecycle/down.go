package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/flotilla-k8s/flotilla/tools/cluster/machine"
	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/cluster/process"
)

// stopGrace is how long a process of the control plane may take to end by itself.
const stopGrace = 5 * time.Second

// Down stops the cluster and removes everything it put on the host. Its data goes too, unless it
// is to be kept for another "up".
func (m Manager) Down(ctx context.Context, name string, keepData bool) error {
	unlock, err := m.lock(ctx, name)
	if err != nil {
		return err
	}
	defer unlock()
	c, err := m.load(name)
	if err != nil {
		return err
	}
	if err := m.stop(ctx, c); err != nil {
		return err
	}
	if keepData {
		return nil
	}
	if err := os.RemoveAll(c.Dir); err != nil {
		return fmt.Errorf("removing the cluster's data: %w", err)
	}
	return nil
}

// stop ends all processes and machines and removes what they leave: the host's network interface
// and the control groups. Everything else ends with the namespaces.
func (m Manager) stop(ctx context.Context, c plan.Cluster) error {
	var problems []error
	for _, name := range slices.Backward(c.MachineNames()) {
		if name != plan.ControlPlane {
			problems = append(problems, stopMachine(ctx, c, name))
		}
	}
	problems = append(problems, stopProcesses(ctx, c))
	if c.Isolated() {
		problems = append(problems, stopMachine(ctx, c, plan.ControlPlane), removeLink(ctx, c.HostLink()))
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		problems = append(problems, m.Cgroups.Remove(ctx, c.CgroupRoot()))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(c.Dir, "run")); err != nil {
		return fmt.Errorf("removing the records of processes: %w", err)
	}
	return nil
}

// stopMachine ends a machine's first process, which takes everything in it along.
func stopMachine(ctx context.Context, c plan.Cluster, name string) error {
	r, err := machineOf(c, name)
	if err != nil {
		return err
	}
	if err := r.Stop(ctx, 0); err != nil {
		return fmt.Errorf("stopping machine %s: %w", name, err)
	}
	return nil
}

// stopProcesses lets the control plane end in an orderly way, clients before servers.
func stopProcesses(ctx context.Context, c plan.Cluster) error {
	var problems []error
	for _, p := range slices.Backward(c.Processes()) {
		r, err := process.Load(processRecord(c, p))
		if err == nil {
			err = r.Stop(ctx, stopGrace)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("stopping %s: %w", p.ID(), err))
		}
	}
	return errors.Join(problems...)
}

func removeLink(ctx context.Context, name string) error {
	if _, err := net.InterfaceByName(name); err != nil {
		return nil //nolint:nilerr // it went with the control plane's namespace
	}
	err := machine.Batch(ctx, nil, []string{"link delete " + name})
	if _, gone := net.InterfaceByName(name); gone != nil {
		return nil //nolint:nilerr // the kernel was faster
	}
	return err
}
