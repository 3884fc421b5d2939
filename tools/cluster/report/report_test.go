package report_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/cluster/report"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func status(change func(*report.Status)) report.Status {
	s := report.Status{
		Cluster: plan.Cluster{
			Params: plan.Params{Name: "test", Block: 1, Nodes: 1, Simulated: 2}, Dir: "/state/test", Bin: "/cache/bin/1",
		},
		Processes: []report.Process{{ID: "etcd", PID: 7, Alive: true}, {ID: "node-1/kubelet", PID: 8, Alive: true}},
		Nodes: []report.Node{
			{Name: "node-1", Ready: true, Version: "v1"},
			{Name: "simulated-1", Ready: true, Simulated: true}, {Name: "simulated-2", Ready: true, Simulated: true},
		},
	}
	change(&s)
	return s
}

func TestSummary(t *testing.T) {
	cases := map[string]struct {
		change func(*report.Status)
		want   string
	}{
		"everything runs":                {func(*report.Status) {}, "running"},
		"a process is missing":           {func(s *report.Status) { s.Processes[0].Alive = false }, "degraded"},
		"no process runs":                {func(s *report.Status) { s.Processes[0].Alive, s.Processes[1].Alive = false, false }, "stopped"},
		"a node is not ready":            {func(s *report.Status) { s.Nodes[0].Ready = false }, "degraded"},
		"a simulated one is not":         {func(s *report.Status) { s.Nodes[2].Ready = false }, "degraded"},
		"a node is not there":            {func(s *report.Status) { s.Nodes = s.Nodes[:2] }, "degraded"},
		"the API does not answer":        {func(s *report.Status) { s.Problem = "no answer" }, "degraded"},
		"a node too many is not counted": {func(s *report.Status) { s.Nodes = append(s.Nodes, report.Node{Name: "x"}) }, "running"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := status(c.change).Summary(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWrite(t *testing.T) {
	states := []report.Status{
		status(func(*report.Status) {}),
		status(func(s *report.Status) {
			s.Processes[1].Alive, s.Nodes, s.Problem = false, nil, "asking the API server: no answer"
		}),
		status(func(s *report.Status) {
			s.Cluster.Name, s.Cluster.Nodes, s.Nodes = "played", 0, s.Nodes[1:]
		}),
	}
	var out strings.Builder
	if err := report.WriteList(&out, states); err != nil {
		t.Fatal(err)
	}
	for _, s := range states {
		out.WriteString("\n")
		if err := s.Write(&out); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join("testdata", "TestWrite.txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("not as in %s, which -update rewrites (-want +got):\n%s", path, diff)
	}
}
