package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/flotilla-k8s/flotilla/tools/cluster/layout"
	"github.com/flotilla-k8s/flotilla/tools/cluster/lifecycle"
	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
)

// options are the flags.
type options struct {
	name      string
	simulated bool
	down      bool
	rate      int
	out       io.Writer
}

// ground is where the demo takes place: a cluster of a name, made by the tools of this repository.
type ground struct {
	options
	root string // the repository
	bin  string // the tools, compiled
	dirs layout.Dirs
	// began is when the command was given.
	began time.Time
}

// newGround finds the repository and compiles the tools that are run as commands of their own: a cluster's
// processes go on after the demo, and so must their program.
func newGround(ctx context.Context, o options) (ground, error) {
	g := ground{options: o, began: time.Now()}
	if g.name == "" {
		g.name = lifecycle.DefaultName
		if g.simulated {
			g.name += "-simulated"
		}
	}
	var err error
	if g.dirs, err = layout.FromEnv(os.Getenv); err != nil {
		return g, err
	}
	here, err := os.Getwd()
	if err != nil {
		return g, fmt.Errorf("finding the repository: %w", err)
	}
	if g.root, err = repository(here); err != nil {
		return g, err
	}
	g.bin = filepath.Join(g.dirs.Cache, "tools")
	tools := filepath.Join(g.root, "tools")
	if err := g.run(ctx, nil, tools, "go", "build", "-o", g.bin+"/", "./cluster", "./images"); err != nil {
		return g, fmt.Errorf("compiling the tools: %w", err)
	}
	return g, nil
}

// repository returns the folder at or above dir that holds go.work.
func repository(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.work")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no go.work at or above %s: run this inside the repository", dir)
		}
	}
}

// up brings the cluster up and returns it.
func (g ground) up(ctx context.Context) (plan.Cluster, error) {
	nodes := []string{"--nodes=2", "--simulated=0"}
	if g.simulated {
		nodes = []string{"--nodes=0", "--simulated=2"}
	}
	args := append([]string{"up", "--name", g.name}, nodes...)
	if err := g.run(ctx, os.Stderr, g.root, filepath.Join(g.bin, "cluster"), args...); err != nil {
		return plan.Cluster{}, err
	}
	return g.find()
}

func (g ground) find() (plan.Cluster, error) { return lifecycle.Manager{Dirs: g.dirs}.Find(g.name) }

func (g ground) takeDown(ctx context.Context) error {
	if err := g.stopProcesses(ctx); err != nil {
		return err
	}
	return g.run(ctx, os.Stderr, g.root, filepath.Join(g.bin, "cluster"), "down", "--name", g.name)
}

// clientConfig returns how to speak to the cluster as its administrator.
func clientConfig(c plan.Cluster) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.AdminKubeconfig())
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.QPS, config.Burst = 100, 200
	return config, nil
}

// say prints a line with the time since the start.
func (g ground) say(format string, args ...any) {
	fmt.Fprintf(g.out, "%6.1f s  %s\n", time.Since(g.began).Seconds(), fmt.Sprintf(format, args...))
}

// run runs a command in a folder to its end. What it says goes to out, or, if that is nil, into the error.
func (g ground) run(ctx context.Context, out io.Writer, dir, program string, args ...string) error {
	_, err := g.capture(ctx, out, dir, program, args...)
	return err
}

// capture is run, and returns what the command wrote to standard output. Interrupting the demo interrupts the
// command, which then gets time to clean up.
func (g ground) capture(ctx context.Context, progress io.Writer, dir, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	var result, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &result, &complaints
	if progress != nil {
		cmd.Stderr = progress
	}
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("running %s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err,
			strings.TrimSpace(complaints.String()))
	}
	return result.String(), nil
}
