package lifecycle

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flotilla-k8s/flotilla/tools/cluster/machine"
	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/cluster/process"
)

// maxStarts is how often one process may be started while a cluster comes up. Some end early
// because another is not ready yet, which is no reason to give up; one that always ends is.
const maxStarts = 6

// starter starts the processes of one cluster while it comes up.
type starter struct {
	Manager
	cluster plan.Cluster
	client  *client
	starts  map[string]int // so far, by process
}

// ensureAll starts the processes that do not run, and restarts those that run another program, or
// with other arguments, than they would now. What has to wait for another is left for the next call.
func (s starter) ensureAll(ctx context.Context, serving bool) error {
	for _, p := range s.cluster.Processes() {
		if err := s.ensure(ctx, p, serving); err != nil {
			return err
		}
	}
	return nil
}

func (s starter) ensure(ctx context.Context, p plan.Process, serving bool) error {
	r, err := process.Load(processRecord(s.cluster, p))
	if err != nil {
		return err
	}
	if r.Alive() && slices.Equal(r.Command, p.Command()) {
		return nil
	}
	first, err := machineOf(s.cluster, p.Machine)
	if err != nil {
		return err
	}
	if p.NeedsAPI && !serving || p.NeedsFile != "" && !existsInside(first, p.NeedsFile) {
		return nil
	}
	if r.Alive() {
		s.say("Stopping %s, which runs another program or with other arguments", p.ID())
		if err := r.Stop(ctx, stopGrace); err != nil {
			return err
		}
	}
	if s.starts[p.ID()] == maxStarts {
		log := s.cluster.Log(p.Machine, p.Name)
		return fmt.Errorf("%s ended %d times; its log %s ends with:\n%s", p.ID(), maxStarts, log, tail(log, 10))
	}
	s.starts[p.ID()]++
	return s.start(ctx, p, first)
}

func (s starter) start(ctx context.Context, p plan.Process, first process.Record) error {
	if err := s.prepare(ctx, p, first); err != nil {
		return fmt.Errorf("preparing %s: %w", p.ID(), err)
	}
	s.say("Starting %s", p.ID())
	command := process.Command{Program: p.Program, Args: p.Args, Env: p.Env, Log: s.cluster.Log(p.Machine, p.Name)}
	if command.Program == "" {
		command.Program = s.Self
	}
	var r process.Record
	var err error
	if s.cluster.Isolated() {
		r, err = machine.Start(first, command)
	} else {
		r, err = process.Start(command)
	}
	if err != nil {
		return err
	}
	r.Command = p.Command()
	return r.Save(processRecord(s.cluster, p))
}

// prepare does what some processes need just before they start.
func (s starter) prepare(ctx context.Context, p plan.Process, first process.Record) error {
	switch p.Name {
	case plan.Kubelet:
		// No pod can start without this image, so it is there before anything can ask for it.
		if err := s.importPause(ctx, s.cluster, first); err != nil {
			return err
		}
		return s.client.forgetLeases(ctx, []string{p.Machine})
	case plan.Kwok:
		return s.client.forgetLeases(ctx, s.cluster.SimulatedNames())
	}
	return nil
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
