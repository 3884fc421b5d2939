package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/cluster/process"
)

// switchOn is the variable that lets these tests run: they take minutes when nothing is built yet,
// and a gigabyte of memory.
const switchOn = "FLOTILLA_CLUSTER_TEST"

// tool is the program under test, with the name of the cluster it works on.
type tool struct {
	t    *testing.T
	path string
	name string
	dir  string // of the cluster
}

// newTool builds the program. Clusters of the test have a state directory of their own, and share
// the cache of built programs.
func newTool(t *testing.T, name string) tool {
	t.Helper()
	if os.Getenv(switchOn) == "" {
		t.Skipf("brings up a real cluster; set %s=1 to run it", switchOn)
	}
	path := filepath.Join(t.TempDir(), "cluster")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v\n%s", err, out)
	}
	state := t.TempDir()
	t.Setenv("FLOTILLA_STATE", state)
	c := tool{t: t, path: path, name: name, dir: filepath.Join(state, name)}
	t.Cleanup(func() {
		// The test's own context has ended by now.
		_ = exec.CommandContext(context.WithoutCancel(t.Context()), path, "down", "--name", name).Run()
	})
	return c
}

// run runs a subcommand and returns its standard output.
func (c tool) run(ctx context.Context, subcommand string, args ...string) (string, error) {
	c.t.Helper()
	cmd := exec.CommandContext(ctx, c.path, append([]string{subcommand, "--name", c.name}, args...)...)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("cluster %s: %w\n%s", subcommand, err, complaints.String())
	}
	return out.String(), err
}

func (c tool) must(ctx context.Context, subcommand string, args ...string) string {
	c.t.Helper()
	out, err := c.run(ctx, subcommand, args...)
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// up brings the cluster up and returns a client for it.
func (c tool) up(ctx context.Context, args ...string) corev1client.CoreV1Interface {
	c.t.Helper()
	kubeconfig := strings.TrimSpace(c.must(ctx, "up", args...))
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		c.t.Fatalf("reading the printed kubeconfig %q: %v", kubeconfig, err)
	}
	client, err := corev1client.NewForConfig(config)
	if err != nil {
		c.t.Fatal(err)
	}
	return client
}

// eventually tries until the check passes.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("%s: %v", what, t.Context().Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// pid returns the recorded process id of a process, for harm.
func (c tool) pid(machine, name string) process.Record {
	c.t.Helper()
	r, err := process.Load(filepath.Join(c.dir, "run", machine, name+".json"))
	if err != nil {
		c.t.Fatal(err)
	}
	if !r.Alive() {
		c.t.Fatalf("%s of %s does not run", name, machine)
	}
	return r
}

func ready(pod *corev1.Pod) error {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("pod %s is not ready: %+v", pod.Name, pod.Status.ContainerStatuses)
}

// processes lists every process of the cluster's control groups and records: those of the plan and
// those of pods.
func (c tool) processes() []process.Record {
	c.t.Helper()
	var list []process.Record
	entries, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		c.t.Fatal(err)
	}
	for _, entry := range entries {
		groups, groupErr := os.ReadFile(filepath.Join(entry, "cgroup"))
		command, commandErr := os.ReadFile(filepath.Join(entry, "cmdline"))
		if groupErr != nil || commandErr != nil {
			continue // it ended meanwhile
		}
		if !bytes.Contains(groups, []byte("/flotilla-"+c.name)) && !bytes.Contains(command, []byte(c.dir)) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(entry))
		if err != nil {
			c.t.Fatal(err)
		}
		if r, err := process.Observe(pid); err == nil {
			list = append(list, r)
		}
	}
	return list
}

// block returns the cluster's block of addresses.
func (c tool) block() int {
	c.t.Helper()
	content, err := os.ReadFile(filepath.Join(c.dir, "cluster.json"))
	if err != nil {
		c.t.Fatal(err)
	}
	var params plan.Params
	if err := json.Unmarshal(content, &params); err != nil {
		c.t.Fatal(err)
	}
	return params.Block
}
