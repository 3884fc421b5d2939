package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"

	"github.com/flotilla-k8s/flotilla/tools/cluster/host"
	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/cluster/process"
)

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
		return nil
	}
	if err := host.InstallTools(ctx, m.Progress); err != nil {
		return err
	}
	return errors.Join(host.CheckKernel(ctx, m.Dirs.Clusters), m.Cgroups.Check())
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

// place chooses the addresses of a new cluster and records it. On a recorded one that is about to
// start it reports addresses that somebody else has taken since.
func (m Manager) place(ctx context.Context, c *plan.Cluster, recorded bool) error {
	unlock, err := m.lock(ctx, "")
	if err != nil {
		return err
	}
	defer unlock()
	if !recorded {
		if c.Block, err = m.freeBlock(ctx, c.Params); err != nil {
			return err
		}
	} else if running, err := anyAlive(*c); err != nil {
		return err
	} else if !running {
		if err := errors.Join(checkPorts(ctx, c.Params), checkRoutes(c.Params)); err != nil {
			return err
		}
	}
	return m.save(*c)
}

// freeBlock returns a block of addresses, and of ports where those matter, that nobody uses.
func (m Manager) freeBlock(ctx context.Context, p plan.Params) (int, error) {
	taken := map[int]bool{}
	names, err := m.names()
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		other, err := m.load(name)
		if err != nil {
			return 0, err
		}
		taken[other.Block] = true
	}
	for p.Block = range plan.Blocks {
		if checkPorts(ctx, p) != nil {
			taken[p.Block] = true
		}
	}
	routes, err := host.Routes()
	if err != nil {
		return 0, err
	}
	var prefixes []netip.Prefix
	for _, route := range routes {
		prefixes = append(prefixes, route.To)
	}
	return plan.FreeBlock(taken, prefixes)
}

// checkPorts reports ports of the host that the cluster needs and somebody else has taken.
func checkPorts(ctx context.Context, p plan.Params) error {
	if p.Isolated() {
		return nil // its ports are in its own namespaces
	}
	e := p.Endpoints()
	var problems []error
	for port, owner := range e.Ports() {
		address := net.JoinHostPort(e.Address.String(), strconv.Itoa(port))
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err != nil {
			problems = append(problems, fmt.Errorf("the port for %s is taken: %w", owner, err))
			continue
		}
		problems = append(problems, listener.Close())
	}
	return errors.Join(problems...)
}

// checkRoutes reports routes to the cluster's addresses that came up after they were chosen.
func checkRoutes(p plan.Params) error {
	if !p.Isolated() {
		return nil
	}
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
