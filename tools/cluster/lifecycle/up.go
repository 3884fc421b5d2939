package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
)

// Wish is what the user asks of a cluster. Nil means: as it is, or the default for a new one.
type Wish struct {
	Name      string
	Nodes     *int
	Simulated *int
	// Timeout is how long the cluster may take to be ready once its programs are built; 0 is for ever.
	Timeout time.Duration
}

// Defaults of a new cluster.
const (
	DefaultName  = "flotilla"
	DefaultNodes = 2
)

// Up makes the cluster exist, run and be ready, and returns it. On one that runs it starts what
// is missing, and restarts what would be started differently now. A new one is recorded only
// once nothing known stands in its way.
func (m Manager) Up(ctx context.Context, wish Wish) (plan.Cluster, error) {
	unlock, err := m.lock(ctx, wish.Name)
	if err != nil {
		return plan.Cluster{}, err
	}
	defer unlock()
	c, recorded, err := m.settle(wish)
	if err != nil {
		return plan.Cluster{}, err
	}
	if c.Isolated() && os.Geteuid() != 0 {
		return plan.Cluster{}, errors.New("real nodes need root, to make namespaces, mounts and control groups: " +
			"run as root, or bring up a cluster of simulated nodes alone (--nodes=0 --simulated=N)")
	}
	if err := m.build(ctx, &c); err != nil {
		return plan.Cluster{}, err
	}
	if err := m.preflight(ctx, c); err != nil {
		return plan.Cluster{}, err
	}
	if err := m.place(ctx, &c, recorded); err != nil {
		return plan.Cluster{}, err
	}
	if err := m.writeFiles(c); err != nil {
		return plan.Cluster{}, err
	}
	if wish.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wish.Timeout)
		defer cancel()
	}
	return c, m.run(ctx, c)
}

// settle returns the recorded cluster, if the wish agrees with it, or a new one that has no
// addresses yet, and tells which it is.
func (m Manager) settle(wish Wish) (c plan.Cluster, recorded bool, err error) {
	c, err = m.load(wish.Name)
	if err == nil {
		return c, true, differences(c.Params, wish)
	}
	if !errors.Is(err, ErrNoCluster) {
		return plan.Cluster{}, false, err
	}
	params := plan.Params{Name: wish.Name, Nodes: DefaultNodes}
	if wish.Nodes != nil {
		params.Nodes = *wish.Nodes
	}
	if wish.Simulated != nil {
		params.Simulated = *wish.Simulated
	}
	c = plan.Cluster{Params: params, Dir: m.Dirs.Cluster(wish.Name), Self: m.Self}
	return c, false, params.Validate()
}

// differences reports what the wish wants changed. Addresses, certificates and data hang on the
// parameters, so a cluster keeps the ones it was made with.
func differences(have plan.Params, wish Wish) error {
	var list []string
	if wish.Nodes != nil && *wish.Nodes != have.Nodes {
		list = append(list, fmt.Sprintf("--nodes=%d, not %d", have.Nodes, *wish.Nodes))
	}
	if wish.Simulated != nil && *wish.Simulated != have.Simulated {
		list = append(list, fmt.Sprintf("--simulated=%d, not %d", have.Simulated, *wish.Simulated))
	}
	if len(list) == 0 {
		return nil
	}
	return fmt.Errorf("cluster %q was made with %s: take it down first, or leave the flags out",
		have.Name, strings.Join(list, " and "))
}

// build makes the programs that this cluster needs.
func (m Manager) build(ctx context.Context, c *plan.Cluster) error {
	builder, err := m.Builder()
	if err != nil {
		return err
	}
	needed := []string{"etcd", "kubernetes"}
	if c.Isolated() {
		needed = append(needed, "pause", "containerd")
	}
	if c.Simulated > 0 {
		needed = append(needed, "kwok")
	}
	c.Bin, err = builder.Build(ctx, needed...)
	return err
}
