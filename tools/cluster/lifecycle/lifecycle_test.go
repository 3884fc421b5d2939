package lifecycle

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flotilla-k8s/flotilla/tools/cluster/layout"
	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
)

func newManager(t *testing.T) Manager {
	t.Helper()
	return Manager{
		Dirs:     layout.Dirs{Cache: t.TempDir(), Clusters: t.TempDir()},
		Self:     "/self",
		Progress: new(bytes.Buffer),
		Now:      time.Now,
	}
}

func TestSettle(t *testing.T) {
	have := plan.Params{Name: "old", Block: 4, Nodes: 2, Simulated: 10}
	cases := map[string]struct {
		wish    Wish
		want    plan.Params
		wantErr string
	}{
		"a new one has the defaults":      {wish: Wish{Name: "new"}, want: plan.Params{Name: "new", Nodes: DefaultNodes}},
		"a new one is as wished":          {wish: Wish{Name: "new", Nodes: new(0), Simulated: new(5)}, want: plan.Params{Name: "new", Simulated: 5}},
		"an old one is as it was made":    {wish: Wish{Name: "old"}, want: have},
		"the same wish is no change":      {wish: Wish{Name: "old", Nodes: new(2), Simulated: new(10)}, want: have},
		"other nodes are refused":         {wish: Wish{Name: "old", Nodes: new(3)}, wantErr: "--nodes=2, not 3"},
		"other simulated ones as well":    {wish: Wish{Name: "old", Simulated: new(0)}, wantErr: "--simulated=10, not 0"},
		"a number that cannot be":         {wish: Wish{Name: "new", Nodes: new(-1)}, wantErr: "-1 nodes"},
		"a name that leads somewhere":     {wish: Wish{Name: "../old"}, wantErr: "cluster name"},
		"the name of the locks directory": {wish: Wish{Name: ".locks"}, wantErr: "cluster name"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := newManager(t)
			if err := m.save(plan.Cluster{Params: have, Dir: m.Dirs.Cluster("old"), Bin: "/bin"}); err != nil {
				t.Fatal(err)
			}
			got, recorded, err := m.settle(c.wish)
			if c.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), c.wantErr) {
					t.Errorf("got %v, want %q", err, c.wantErr)
				}
				return
			}
			if err != nil || got.Params != c.want || recorded != (c.wish.Name == "old") || got.Self != "/self" {
				t.Errorf("got %+v, %t, %v", got, recorded, err)
			}
		})
	}
}

func TestPlaceKeepsClustersApart(t *testing.T) {
	m := newManager(t)
	blocks := map[int]bool{}
	for _, name := range []string{"a", "b", "c"} {
		c := plan.Cluster{Params: plan.Params{Name: name, Simulated: 1}, Dir: m.Dirs.Cluster(name)}
		if err := m.place(t.Context(), &c, false); err != nil {
			t.Fatal(err)
		}
		blocks[c.Block] = true
		if again, err := m.load(name); err != nil || again.Block != c.Block {
			t.Errorf("recorded block %d, %v", again.Block, err)
		}
	}
	if len(blocks) != 3 {
		t.Errorf("three clusters share blocks: %v", blocks)
	}
}

func TestPlaceAvoidsTakenPorts(t *testing.T) {
	m := newManager(t)
	first := plan.Cluster{Params: plan.Params{Name: "a", Simulated: 1}, Dir: m.Dirs.Cluster("a")}
	if err := m.place(t.Context(), &first, false); err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", first.RegistryHost())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	if err := m.place(t.Context(), &first, true); err == nil || !strings.Contains(err.Error(), "port for registry is taken") {
		t.Errorf("a recorded cluster: %v", err)
	}
	if err := os.RemoveAll(first.Dir); err != nil {
		t.Fatal(err)
	}
	other := plan.Cluster{Params: plan.Params{Name: "b", Simulated: 1}, Dir: m.Dirs.Cluster("b")}
	if err := m.place(t.Context(), &other, false); err != nil || other.Block == first.Block {
		t.Errorf("a new cluster: block %d, %v", other.Block, err)
	}
}

func TestLockIsHeldByOne(t *testing.T) {
	m := newManager(t)
	unlock, err := m.lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := m.lock(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the same name: %v", err)
	}
	if free, err := m.lock(t.Context(), "b"); err != nil {
		t.Errorf("another name: %v", err)
	} else {
		free()
	}
	unlock()
	if again, err := m.lock(t.Context(), "a"); err != nil {
		t.Errorf("after it was given back: %v", err)
	} else {
		again()
	}
}

func TestMissingNodes(t *testing.T) {
	p := plan.Params{Name: "a", Nodes: 2, Simulated: 2}
	all := map[string]bool{"node-1": true, "node-2": true, "simulated-1": true, "simulated-2": true}
	cases := map[string]struct {
		without []string
		want    string
	}{
		"none":            {nil, ""},
		"a real one":      {[]string{"node-2", "simulated-1"}, "node node-2"},
		"simulated ones":  {[]string{"simulated-1", "simulated-2"}, "2 simulated nodes"},
		"all, one by one": {[]string{"node-1", "node-2"}, "node node-1"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ready := map[string]bool{}
			for node := range all {
				ready[node] = true
			}
			for _, node := range c.without {
				delete(ready, node)
			}
			if got := missingNodes(p, ready); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWithoutACluster(t *testing.T) {
	m := newManager(t)
	if err := m.Down(t.Context(), "a", false); !errors.Is(err, ErrNoCluster) {
		t.Errorf("down: %v", err)
	}
	if _, err := m.Status(t.Context(), "a"); !errors.Is(err, ErrNoCluster) {
		t.Errorf("status: %v", err)
	}
	if _, err := m.Load(t.Context(), "a", []string{"x.tar"}, ToAll); !errors.Is(err, ErrNoCluster) {
		t.Errorf("load: %v", err)
	}
	if list, err := m.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("list: %v, %v", list, err)
	}
}

func TestWriteFileReplacesWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b")
	for _, content := range []string{"one, longer", "two"} {
		if err := writeFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("got %q, %v", got, err)
		}
	}
}
