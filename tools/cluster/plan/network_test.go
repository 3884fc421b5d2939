package plan_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
)

func TestNetworksAreDisjoint(t *testing.T) {
	var seen []netip.Prefix
	for block := range plan.Blocks {
		n := plan.NetworkOf(block)
		for _, prefix := range []netip.Prefix{n.Machines, n.Pods, n.Services} {
			for _, other := range seen {
				if prefix.Overlaps(other) {
					t.Fatalf("%s of block %d overlaps %s", prefix, block, other)
				}
			}
			seen = append(seen, prefix)
		}
	}
}

func TestAddressesStayInTheirNetworks(t *testing.T) {
	for block := range plan.Blocks {
		n := plan.NetworkOf(block)
		machines := map[netip.Addr]bool{n.ControlPlane(): true, n.Host(): true}
		for i := range plan.MaxNodes {
			machines[n.Node(i)] = true
			pods := n.NodePods(i)
			if !n.Pods.Contains(pods.Addr()) || pods.Overlaps(n.SimulatedPods()) {
				t.Fatalf("pods %s of node %d are not in %s, or among the simulated %s", pods, i, n.Pods, n.SimulatedPods())
			}
		}
		if len(machines) != plan.MaxNodes+2 {
			t.Fatalf("block %d: machines share addresses", block)
		}
		for addr := range machines {
			if !n.Machines.Contains(addr) {
				t.Fatalf("machine %s is not in %s", addr, n.Machines)
			}
		}
		if !n.Services.Contains(n.APIService()) || !n.Services.Contains(n.DNSService()) {
			t.Fatalf("Services of block %d are not in %s", block, n.Services)
		}
	}
}

func TestLoopbackPortsAreDistinct(t *testing.T) {
	seen := map[int]int{}
	for block := range plan.Blocks {
		ports := plan.Params{Name: "x", Block: block}.Endpoints().Ports()
		if len(ports) != 6 {
			t.Fatalf("block %d has %d different ports", block, len(ports))
		}
		for port := range ports {
			if other, taken := seen[port]; taken {
				t.Fatalf("port %d is in blocks %d and %d", port, other, block)
			}
			seen[port] = block
			if port < 1024 || port >= 32768 {
				t.Fatalf("port %d is privileged or handed out by the kernel", port)
			}
		}
	}
}

func TestFreeBlock(t *testing.T) {
	all := map[int]bool{}
	for block := range plan.Blocks {
		all[block] = true
	}
	cases := map[string]struct {
		owned   map[int]bool
		routes  []string
		want    int
		wantErr bool
	}{
		"the first when nothing is taken":              {want: 0},
		"the lowest that no cluster owns":              {owned: map[int]bool{0: true, 2: true}, want: 1},
		"a route to its machines takes a block":        {routes: []string{"10.88.0.0/24"}, want: 1},
		"a route into its pods takes a block":          {routes: []string{"10.128.7.0/24", "10.129.0.1/32"}, want: 2},
		"a route to its Services takes a block":        {routes: []string{"10.96.0.0/16"}, want: 1},
		"wider routes lose against more specific ones": {routes: []string{"0.0.0.0/0", "10.0.0.0/8"}, want: 0},
		"an error when all are owned":                  {owned: all, wantErr: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var routes []netip.Prefix
			for _, route := range c.routes {
				routes = append(routes, netip.MustParsePrefix(route))
			}
			got, err := plan.FreeBlock(c.owned, routes)
			if got != c.want || (err != nil) != c.wantErr {
				t.Errorf("got %d, %v", got, err)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	cases := map[string]struct {
		params plan.Params
		want   string // part of the error; none if empty
	}{
		"as usual":              {plan.Params{Name: "a-b2", Nodes: 2, Simulated: 1000}, ""},
		"no name":               {plan.Params{Nodes: 1}, "cluster name"},
		"a name that is a path": {plan.Params{Name: "../x", Nodes: 1}, "cluster name"},
		"a long name":           {plan.Params{Name: strings.Repeat("a", 25)}, "cluster name"},
		"a dash at the end":     {plan.Params{Name: "a-"}, "cluster name"},
		"too many nodes":        {plan.Params{Name: "a", Nodes: plan.MaxNodes + 1}, "nodes"},
		"fewer than none":       {plan.Params{Name: "a", Simulated: -1}, "simulated"},
		"a block too high":      {plan.Params{Name: "a", Block: plan.Blocks}, "block"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := c.params.Validate()
			if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestInterfaceNamesFit(t *testing.T) {
	p := plan.Params{Name: "a", Block: plan.Blocks - 1, Nodes: plan.MaxNodes}
	names := append(p.NodeNames(), p.HostLink())
	for _, name := range names {
		if len(name) > 15 {
			t.Errorf("the kernel does not take %q", name)
		}
	}
}
