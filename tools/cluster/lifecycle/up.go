package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/flotilla-k8s/flotilla/tools/cluster/host"
	"github.com/flotilla-k8s/flotilla/tools/cluster/pki"
	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/cluster/process"
	"github.com/flotilla-k8s/flotilla/tools/cluster/simulate"
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
// is missing, and restarts what would be started differently now.
func (m Manager) Up(ctx context.Context, wish Wish) (plan.Cluster, error) {
	unlock, err := m.lock(ctx, wish.Name)
	if err != nil {
		return plan.Cluster{}, err
	}
	defer unlock()
	c, err := m.settle(ctx, wish)
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
	if err := m.save(c); err != nil {
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

// settle returns the recorded cluster, if the wish agrees with it, or the parameters of a new
// one, which it records together with the choice of addresses.
func (m Manager) settle(ctx context.Context, wish Wish) (plan.Cluster, error) {
	c, err := m.load(wish.Name)
	if err == nil {
		return c, differences(c.Params, wish)
	}
	if !errors.Is(err, ErrNoCluster) {
		return plan.Cluster{}, err
	}
	unlock, err := m.lock(ctx, "")
	if err != nil {
		return plan.Cluster{}, err
	}
	defer unlock()
	params := plan.Params{Name: wish.Name, Nodes: DefaultNodes}
	if wish.Nodes != nil {
		params.Nodes = *wish.Nodes
	}
	if wish.Simulated != nil {
		params.Simulated = *wish.Simulated
	}
	if err := params.Validate(); err != nil {
		return plan.Cluster{}, err
	}
	if params.Block, err = m.freeBlock(); err != nil {
		return plan.Cluster{}, err
	}
	c = plan.Cluster{Params: params, Dir: m.Dirs.Cluster(wish.Name), Self: m.Self}
	return c, m.save(c)
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

func (m Manager) freeBlock() (int, error) {
	owned := map[int]bool{}
	names, err := m.names()
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		other, err := m.load(name)
		if err != nil {
			return 0, err
		}
		owned[other.Block] = true
	}
	routes, err := host.Routes()
	if err != nil {
		return 0, err
	}
	var prefixes []netip.Prefix
	for _, route := range routes {
		prefixes = append(prefixes, route.To)
	}
	return plan.FreeBlock(owned, prefixes)
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

// preflight reports what stands in the way of a start. A cluster that runs has passed it.
func (m Manager) preflight(ctx context.Context, c plan.Cluster) error {
	running, err := anyAlive(c)
	if err != nil || running {
		return err
	}
	meminfo, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return fmt.Errorf("reading the available memory: %w", err)
	}
	if err := host.CheckMemory(string(meminfo), c.Nodes, c.Simulated); err != nil {
		return err
	}
	if !c.Isolated() {
		return checkPorts(ctx, c.Endpoints())
	}
	if err := host.InstallTools(ctx, m.Progress); err != nil {
		return err
	}
	return errors.Join(host.CheckKernel(ctx, c.Dir), m.Cgroups.Check(), checkRoutes(c.Params))
}

// checkPorts reports ports of the loopback address that somebody else has taken.
func checkPorts(ctx context.Context, e plan.Endpoints) error {
	var problems []error
	for port, owner := range e.Ports() {
		address := net.JoinHostPort(e.Address.String(), strconv.Itoa(port))
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err != nil {
			problems = append(problems, fmt.Errorf("port for %s is taken: %w", owner, err))
			continue
		}
		problems = append(problems, listener.Close())
	}
	return errors.Join(problems...)
}

// checkRoutes reports routes to the cluster's addresses that came up after they were chosen.
func checkRoutes(p plan.Params) error {
	routes, err := host.Routes()
	if err != nil {
		return err
	}
	for _, route := range routes {
		if route.Interface != p.HostLink() && p.Network().Overlaps(route.To) {
			return fmt.Errorf("addresses of cluster %q are in use: this host has a route to %s through %s", p.Name, route.To, route.Interface)
		}
	}
	return nil
}

func anyAlive(c plan.Cluster) (bool, error) {
	for _, p := range c.Processes() {
		r, err := process.Load(processRecord(c, p))
		if err != nil {
			return false, err
		}
		if r.Alive() {
			return true, nil
		}
	}
	return false, nil
}

// writeFiles brings certificates, kubeconfigs and configuration files up to date.
func (m Manager) writeFiles(c plan.Cluster) error {
	store := pki.Store{Dir: c.PKI(), Now: m.Now}
	authority, err := store.Authority(plan.Authority)
	if err != nil {
		return err
	}
	if err := store.KeyPair(plan.ServiceAccounts, plan.ServiceAccountPublicKey); err != nil {
		return err
	}
	for _, id := range c.Identities() {
		if err := authority.Issue(id.Name, pki.Subject{User: id.User, Groups: id.Groups, Hosts: id.Hosts}); err != nil {
			return err
		}
		if id.WithoutKubeconfig {
			continue
		}
		content, err := store.Kubeconfig("flotilla-"+c.Name, c.APIServerURL(), plan.Authority, id.Name)
		if err != nil {
			return err
		}
		if err := writeFile(c.Kubeconfig(id.Name), content, 0o600); err != nil {
			return err
		}
		if id.Name == plan.AdminIdentity {
			if err := writeFile(c.AdminKubeconfig(), content, 0o600); err != nil {
				return err
			}
		}
	}
	return m.writeConfigs(c)
}

func (m Manager) writeConfigs(c plan.Cluster) error {
	files, err := c.Files()
	if err != nil {
		return err
	}
	if c.Simulated > 0 {
		if files["etc/kwok.yaml"], err = simulate.Stages(); err != nil {
			return err
		}
	}
	for name, content := range files {
		if err := writeFile(filepath.Join(c.Dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
