package host

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMissing(t *testing.T) {
	have := map[string]bool{"/usr/sbin/runc": true, "/usr/lib/cni/bridge": true, "/opt/cni/bin/portmap": true}
	got := Missing([]Tool{
		{"runc", "runc", []string{"/usr/sbin", "/usr/bin"}},
		{"bridge", "containernetworking-plugins", []string{"/usr/lib/cni", "/opt/cni/bin"}},
		{"portmap", "containernetworking-plugins", []string{"/usr/lib/cni", "/opt/cni/bin"}},
		{"iptables", "iptables", []string{"/usr/sbin", "/usr/bin"}},
		{"iptables-save", "iptables", []string{"/usr/sbin", "/usr/bin"}},
	}, func(path string) bool { return have[path] })
	if diff := cmp.Diff([]string{"iptables"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseRoutes(t *testing.T) {
	const table = `Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
eth0	00000000	010200C0	0003	0	0	0	00000000	0	0	0
flotilla0	0000580A	00000000	0001	0	0	0	00FFFFFF	0	0	0
flotilla0	0000600A	0B00580A	0003	0	0	0	0000FFFF	0	0	0
`
	got, err := parseRoutes(strings.NewReader(table))
	if err != nil {
		t.Fatal(err)
	}
	want := []Route{
		{"eth0", netip.MustParsePrefix("0.0.0.0/0")},
		{"flotilla0", netip.MustParsePrefix("10.88.0.0/24")},
		{"flotilla0", netip.MustParsePrefix("10.96.0.0/16")},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	if _, err := parseRoutes(strings.NewReader("header\neth0 what 0 1 0 0 0 0 0 0 0\n")); err == nil {
		t.Error("nonsense is no error")
	}
}

func TestRoutesOfThisHost(t *testing.T) {
	if _, err := Routes(); err != nil {
		t.Error(err)
	}
}

func TestCheckMemory(t *testing.T) {
	const meminfo = "MemTotal:  8000000 kB\nMemFree:   100 kB\nMemAvailable:  1200000 kB\n"
	cases := map[string]struct {
		meminfo          string
		nodes, simulated int
		wantErr          bool
	}{
		"enough for two nodes":          {meminfo, 2, 0, false},
		"too little for three":          {meminfo, 3, 0, true},
		"too little for many simulated": {meminfo, 0, 1000, true},
		"a kernel that does not say":    {"MemTotal: 1 kB\n", 3, 0, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if err := CheckMemory(c.meminfo, c.nodes, c.simulated); (err != nil) != c.wantErr {
				t.Errorf("got %v", err)
			}
		})
	}
}

// tree makes a directory with files by path.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, content := range files {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func firstVersion(t *testing.T) Cgroups {
	t.Helper()
	return Cgroups{Root: tree(t, map[string]string{
		"cpu/cgroup.procs": "", "memory/cgroup.procs": "", "pids/cgroup.procs": "",
		"cpuset/cgroup.procs": "", "cpuset/cpuset.cpus": "0-1\n", "cpuset/cpuset.mems": "0\n",
		"not-a-hierarchy/file": "",
	})}
}

func TestCgroupsOfTheFirstVersion(t *testing.T) {
	c := firstVersion(t)
	if err := c.Check(); err != nil {
		t.Error(err)
	}
	// The kernel fills a new directory with files; here one group has them beforehand.
	made := filepath.Join(c.Root, "cpuset", "flotilla-x")
	if err := os.MkdirAll(made, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		if err := os.WriteFile(filepath.Join(made, file), []byte("\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Make("flotilla-x/node-1"); err != nil {
		t.Fatal(err)
	}
	for _, controller := range controllers() {
		if _, err := os.Stat(filepath.Join(c.Root, controller, "flotilla-x", "node-1")); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(c.Root, "not-a-hierarchy", "flotilla-x")); err == nil {
		t.Error("a group was made in a directory that is no hierarchy")
	}
	if cpus, err := os.ReadFile(filepath.Join(made, "cpuset.cpus")); err != nil || string(cpus) != "0-1\n" {
		t.Errorf("the group has processors %q, %v", cpus, err)
	}
}

func TestCgroupsOfTheSecondVersion(t *testing.T) {
	c := Cgroups{Root: tree(t, map[string]string{"cgroup.controllers": "cpu cpuset io memory pids\n", "cgroup.procs": ""})}
	if err := c.Check(); err != nil {
		t.Error(err)
	}
	if err := c.Make("flotilla-x/node-1"); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{".", "flotilla-x"} {
		enabled, err := os.ReadFile(filepath.Join(c.Root, dir, "cgroup.subtree_control"))
		if err != nil || string(enabled) != "+cpu +cpuset +memory +pids" {
			t.Errorf("%s passes on %q, %v", dir, enabled, err)
		}
	}
}

func TestCheckNamesWhatIsMissing(t *testing.T) {
	for name, root := range map[string]string{
		"first version":  tree(t, map[string]string{"cpu/cgroup.procs": "", "cpuset/cgroup.procs": "", "pids/cgroup.procs": ""}),
		"second version": tree(t, map[string]string{"cgroup.controllers": "cpu cpuset pids"}),
	} {
		err := Cgroups{Root: root}.Check()
		if err == nil || !strings.Contains(err.Error(), "lack memory") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestRemove(t *testing.T) {
	c := firstVersion(t)
	if err := c.Make("flotilla-x/node-1"); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(c.Root, "memory", "flotilla-x", "node-1", "kubepods", "pod1"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 { // once more changes nothing
		if err := c.Remove(t.Context(), "flotilla-x"); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(c.Root, "*", "flotilla-x")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	// A group that cannot go, here because of a file, is reported when the time is up.
	busy := filepath.Join(c.Root, "cpu", "flotilla-x")
	if err := os.MkdirAll(busy, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(busy, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := c.Remove(ctx, "flotilla-x"); err == nil {
		t.Error("no error for a group that stays")
	}
}
