package plan_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestCluster shows everything a cluster consists of, so that a change of the plan is seen as what
// it changes on the machine.
func TestCluster(t *testing.T) {
	cases := map[string]plan.Params{
		"real nodes":           {Name: "real", Block: 3, Nodes: 2, Simulated: 1},
		"simulated nodes only": {Name: "played", Block: 1, Simulated: 2},
	}
	for name, params := range cases {
		t.Run(name, func(t *testing.T) {
			c := plan.Cluster{Params: params, Dir: "/state/" + params.Name, Bin: "/cache/bin/1", Self: "/self"}
			compare(t, filepath.Join("testdata", "TestCluster", strings.ReplaceAll(name, " ", "-")+".txt"), describe(t, c))
		})
	}
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("not as in %s, which -update rewrites (-want +got):\n%s", path, diff)
	}
}

func describe(t *testing.T, c plan.Cluster) string {
	t.Helper()
	var out strings.Builder
	section := func(title string, lines ...string) {
		fmt.Fprintf(&out, "== %s\n%s\n\n", title, strings.Join(lines, "\n"))
	}
	for _, m := range c.Machines() {
		lines := []string{"init " + strings.Join(m.Init, " ")}
		for _, dir := range m.Tmpfs {
			lines = append(lines, "tmpfs "+dir)
		}
		for _, dir := range slices.Sorted(maps.Keys(m.Binds)) {
			lines = append(lines, "bind "+dir+" from "+m.Binds[dir])
		}
		for _, name := range slices.Sorted(maps.Keys(m.Sysctls)) {
			lines = append(lines, name+" = "+m.Sysctls[name])
		}
		section("machine "+m.Name, lines...)
	}
	if c.Isolated() {
		showLinks(section, "control plane", c.LinkControlPlane(100))
	}
	for i, node := range c.NodeNames() {
		showLinks(section, node, c.LinkNode(i, 100, 101+i))
	}
	for _, p := range c.Processes() {
		lines := append([]string{p.Program}, p.Args...)
		lines = append(lines, p.Env...)
		lines = append(lines, fmt.Sprintf("needs the API: %t, file: %q", p.NeedsAPI, p.NeedsFile))
		section("process "+p.ID()+" on "+p.Machine, lines...)
	}
	for _, id := range c.Identities() {
		section("identity "+id.Name, id.User,
			"groups "+strings.Join(id.Groups, " "), "hosts "+strings.Join(id.Hosts, " "),
			fmt.Sprintf("kubeconfig %t", !id.WithoutKubeconfig))
	}
	files, err := c.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		section("file "+name, string(files[name]))
	}
	return out.String()
}

func showLinks(section func(string, ...string), of string, l plan.Links) {
	section("links of "+of+", on the host", l.Host...)
	section("links of "+of+", in the control plane", l.ControlPlane...)
	section("links of "+of+", in the machine", l.Machine...)
}
