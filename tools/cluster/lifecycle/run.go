package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flotilla-k8s/flotilla/tools/cluster/machine"
	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/cluster/process"
)

// maxStarts is how often one process may be started while a cluster comes up. Some end early
// because another is not ready yet, which is no reason to give up; one that always ends is.
const maxStarts = 6

// run starts what does not run and waits until the cluster is ready.
func (m Manager) run(ctx context.Context, c plan.Cluster) error {
	if err := m.ensureMachines(ctx, c); err != nil {
		return err
	}
	client, err := newClient(c)
	if err != nil {
		return err
	}
	starts := map[string]int{}
	waiting, told := "", m.Now()
	err = poll(ctx, 250*time.Millisecond, func() (bool, error) {
		if err := m.ensureProcesses(ctx, c, starts); err != nil {
			return false, err
		}
		now, err := client.waitingFor(ctx, c)
		if now != waiting || m.Now().Sub(told) > 15*time.Second {
			waiting, told = now, m.Now()
			if now != "" {
				m.say("Waiting for %s", now)
			}
		}
		return now == "", err
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

// ensureProcesses starts the processes that do not run, and restarts those that run with other
// arguments than they would get now. It counts the starts.
func (m Manager) ensureProcesses(ctx context.Context, c plan.Cluster, starts map[string]int) error {
	for _, p := range c.Processes() {
		r, err := process.Load(processRecord(c, p))
		if err != nil {
			return err
		}
		if r.Alive() {
			if slices.Equal(r.Args, p.Args) {
				continue
			}
			m.say("Restarting %s, which runs with other arguments", p.ID())
			if err := r.Stop(ctx, stopGrace); err != nil {
				return err
			}
		}
		first, err := machineOf(c, p.Machine)
		if err != nil {
			return err
		}
		if p.Needs != "" && !existsInside(first, p.Needs) {
			continue
		}
		if starts[p.ID()] == maxStarts {
			return fmt.Errorf("%s ended %d times; its log %s ends with:\n%s",
				p.ID(), maxStarts, c.Log(p.Machine, p.Name), tail(c.Log(p.Machine, p.Name), 10))
		}
		starts[p.ID()]++
		if err := m.start(ctx, c, p, first); err != nil {
			return err
		}
	}
	return nil
}

func (m Manager) start(ctx context.Context, c plan.Cluster, p plan.Process, first process.Record) error {
	if p.Name == "kubelet" {
		// No pod can start without it, so it is there before anything can ask for it.
		if err := m.importPause(ctx, c, first); err != nil {
			return err
		}
	}
	m.say("Starting %s", p.ID())
	command := process.Command{Program: p.Program, Args: p.Args, Env: p.Env, Log: c.Log(p.Machine, p.Name)}
	if command.Program == "" {
		command.Program = c.Self
	}
	var r process.Record
	var err error
	if c.Isolated() {
		r, err = machine.Start(first, command)
	} else {
		r, err = process.Start(command)
	}
	if err != nil {
		return err
	}
	return r.Save(processRecord(c, p))
}

// existsInside tells whether a file is there in the machine's view.
func existsInside(first process.Record, path string) bool {
	_, err := os.Stat(filepath.Join(fmt.Sprintf("/proc/%d/root", first.PID), path))
	return err == nil
}

// tail returns the last lines of a file, for an error message.
func tail(path string, most int) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
