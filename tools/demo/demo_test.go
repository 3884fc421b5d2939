package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/demo/live"
	"github.com/flotilla-k8s/flotilla/tools/demo/voyage"
)

func server(i int, tag string) live.Event {
	image := "flotilla/test-server:" + tag
	return live.Event{Pod: voyage.Pod{Name: fmt.Sprintf("web-%d", i), Image: image, Running: image, Ready: true}}
}

func TestSettleWaitsUntilOnlyThePodsOfTheTagAreThere(t *testing.T) {
	events := make(chan live.Event, 32)
	pods := map[string]voyage.Pod{}
	for i := range voyage.Replicas {
		pods[fmt.Sprintf("web-%d", i)] = server(i, "v1").Pod
		events <- server(i+10, "v2")
	}
	for i := range voyage.Replicas {
		gone := server(i, "v1")
		gone.Gone = true
		events <- gone
	}
	there, err := settle(t.Context(), events, pods, "v2")
	if err != nil || len(there) != voyage.Replicas || len(events) != 0 {
		t.Errorf("settled with %d pods and %d events left: %v", len(there), len(events), err)
	}
}

func TestSettleGivesUpWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := settle(ctx, make(chan live.Event), map[string]voyage.Pod{"web-0": server(0, "v1").Pod}, "v1")
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "1 of 6 pods serve") {
		t.Errorf("error is %v", err)
	}
}

func TestProcessesListenOnPortsOfTheirCluster(t *testing.T) {
	cluster := plan.Cluster{Params: plan.Params{Name: "x", Block: 3, Simulated: 2}}
	taken := cluster.Endpoints().Ports()
	port := cluster.Endpoints().APIServer + webhookPort
	if owner, is := taken[port]; is {
		t.Errorf("the webhook's port %d belongs to %s", port, owner)
	}
	next := plan.Cluster{Params: plan.Params{Name: "y", Block: 4, Simulated: 2}}
	if port >= next.Endpoints().APIServer {
		t.Errorf("the webhook's port %d belongs to the next cluster", port)
	}
	if env := strings.Join(parts(cluster)[0].env, " "); !strings.Contains(env, fmt.Sprint("WEBHOOK_PORT=", port)) {
		t.Errorf("environment of the webhook is %s, want port %d", env, port)
	}
}

func TestRepository(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "go.work"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if have, err := repository(deep); err != nil || have != root {
		t.Errorf("repository is %q (%v), want %q", have, err, root)
	}
	if _, err := repository("/"); err == nil {
		t.Error("no error outside of a repository")
	}
}
