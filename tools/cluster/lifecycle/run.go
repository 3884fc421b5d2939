package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flotilla-k8s/flotilla/tools/cluster/machine"
	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/cluster/process"
)

// run starts what does not run and waits until the cluster is ready.
func (m Manager) run(ctx context.Context, c plan.Cluster) error {
	if err := m.ensureMachines(ctx, c); err != nil {
		return err
	}
	client, err := newClient(c)
	if err != nil {
		return err
	}
	s := starter{Manager: m, cluster: c, client: client, starts: map[string]int{}}
	waiting, told := "", m.Now()
	err = poll(ctx, 250*time.Millisecond, func() (bool, error) {
		now := "the API server"
		serving := client.serving(ctx)
		if err := s.ensureAll(ctx, serving); err != nil {
			return false, err
		}
		if serving {
			now = client.waitingFor(ctx, c)
		}
		// A change is told, but not every one of a count, and now and then what has not changed.
		if since := m.Now().Sub(told); now != "" && (now != waiting && since > 2*time.Second || since > 15*time.Second) {
			m.say("Waiting for %s", now)
			told = m.Now()
		}
		waiting = now
		return now == "", nil
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("waiting for %s: %w; see \"cluster status\" and \"cluster logs\"", waiting, err)
	}
	return err
}

// ensureMachines makes the machines that are missing. All are connected to the control plane's,
// so when that is gone the others are useless and made again.
func (m Manager) ensureMachines(ctx context.Context, c plan.Cluster) error {
	if !c.Isolated() {
		return nil
	}
	first, err := machineOf(c, plan.ControlPlane)
	if err != nil {
		return err
	}
	if !first.Alive() {
		if err := m.stop(ctx, c); err != nil {
			return err
		}
	}
	for _, spec := range c.Machines() {
		r, err := machineOf(c, spec.Name)
		if err != nil {
			return err
		}
		if r.Alive() {
			continue
		}
		m.say("Making machine %s", spec.Name)
		if err := m.makeMachine(ctx, c, spec); err != nil {
			return err
		}
	}
	return nil
}

func (m Manager) makeMachine(ctx context.Context, c plan.Cluster, spec plan.Machine) error {
	r, err := machine.Spawn(c.Self, spec)
	if err != nil {
		return err
	}
	if err := r.Save(machineRecord(c, spec.Name)); err != nil {
		return errors.Join(err, r.Stop(ctx, 0))
	}
	err = m.connect(ctx, c, spec.Name, r)
	if err == nil && spec.Name != plan.ControlPlane {
		err = m.Cgroups.Make(c.NodeCgroup(spec.Name))
	}
	if err != nil {
		// A machine without its network must not pass for a finished one next time.
		return errors.Join(err, r.Stop(ctx, 0))
	}
	return nil
}

// connect makes the machine's network interfaces, addresses and routes.
func (m Manager) connect(ctx context.Context, c plan.Cluster, name string, first process.Record) error {
	if name == plan.ControlPlane {
		links := c.LinkControlPlane(first.PID)
		// The interface has to be there before it can join the bridge, and the bridge before
		// the host can send anything.
		if err := machine.Batch(ctx, nil, links.Host); err != nil {
			return fmt.Errorf("connecting the host: %w", err)
		}
		if err := machine.Batch(ctx, &first, links.ControlPlane); err != nil {
			return fmt.Errorf("connecting the control plane: %w", err)
		}
		return nil
	}
	controlPlane, err := machineOf(c, plan.ControlPlane)
	if err != nil {
		return err
	}
	// A machine of that name that ended a moment ago may still hold the port of the bridge. There
	// is none to delete in the usual case, and if deleting fails so does making the new one.
	_ = machine.Batch(ctx, &controlPlane, []string{"link delete " + name})
	links := c.LinkNode(slices.Index(c.NodeNames(), name), controlPlane.PID, first.PID)
	if err := machine.Batch(ctx, nil, links.Host); err != nil {
		return fmt.Errorf("connecting %s: %w", name, err)
	}
	if err := machine.Batch(ctx, &controlPlane, links.ControlPlane); err != nil {
		return fmt.Errorf("connecting %s: %w", name, err)
	}
	if err := machine.Batch(ctx, &first, links.Machine); err != nil {
		return fmt.Errorf("connecting %s: %w", name, err)
	}
	return nil
}
