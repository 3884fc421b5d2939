package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/cluster/process"
)

// webhookPort is where the webhook listens, counted from the API server's port: a cluster on the loopback address
// owns ten ports, of which it uses the first ones.
const webhookPort = 9

// part is one of Flotilla's programs, run as a process of this machine. The node agent is none of them: there
// is no node for it.
type part struct {
	name, dir string
	args, env []string
}

func parts(c plan.Cluster) []part {
	quiet := []string{"--metrics-addr=0", "--health-probe-addr=0"}
	return []part{
		{name: "webhook", dir: "webhook", args: quiet, env: []string{
			"WEBHOOK_HOST=localhost", "WEBHOOK_PORT=" + strconv.Itoa(c.Endpoints().APIServer+webhookPort),
		}},
		{name: "workloads", dir: "operators/workloads", args: append(quiet, "--leader-election-namespace=flotilla-system")},
	}
}

// processDir holds records and logs of the processes; it outlives the cluster, so that they can be found and
// ended without it.
func (g ground) processDir() string { return filepath.Join(g.dirs.Cache, "demo", g.name) }

func (g ground) processRecord(name string) string { return filepath.Join(g.processDir(), name+".json") }

// startProcesses compiles Flotilla's parts and starts them, in place of those of an earlier run.
func (g ground) startProcesses(ctx context.Context, c plan.Cluster) error {
	if err := g.stopProcesses(ctx); err != nil {
		return err
	}
	for _, p := range parts(c) {
		program := filepath.Join(g.processDir(), p.name)
		g.say("Compiling and starting %s", p.name)
		if err := g.run(ctx, nil, filepath.Join(g.root, p.dir), "go", "build", "-o", program, "."); err != nil {
			return fmt.Errorf("compiling %s: %w", p.name, err)
		}
		record, err := process.Start(process.Command{
			Program: program, Args: p.args, Log: filepath.Join(g.processDir(), p.name+".log"),
			Env: append(os.Environ(), append(p.env, "KUBECONFIG="+c.AdminKubeconfig())...),
		})
		if err != nil {
			return err
		}
		if err := record.Save(g.processRecord(p.name)); err != nil {
			return err
		}
	}
	return nil
}

// stopProcesses ends the processes of an earlier run, if there are any.
func (g ground) stopProcesses(ctx context.Context) error {
	for _, p := range parts(plan.Cluster{}) {
		record, err := process.Load(g.processRecord(p.name))
		if err != nil {
			return err
		}
		if err := record.Stop(ctx, 10*time.Second); err != nil {
			return fmt.Errorf("stopping %s: %w", p.name, err)
		}
	}
	return nil
}
