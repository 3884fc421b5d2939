package plan

import (
	"fmt"
	"net/netip"
)

// Blocks is how many clusters can have addresses of their own side by side.
const Blocks = 32

// Ports of the control plane when it has a network namespace for itself.
const (
	portAPIServer         = 6443
	portEtcdClient        = 2379
	portEtcdPeer          = 2380
	portControllerManager = 10257
	portScheduler         = 10259
	portRegistry          = 5000
)

// Without isolation every cluster has a run of ports below the range the kernel hands out.
const (
	firstLoopbackPort = 21000
	portsPerBlock     = 10
)

const loopback = "127.0.0.1"

// Network is the address plan of one block.
type Network struct {
	Machines netip.Prefix // control plane, host and nodes, on one bridge
	Pods     netip.Prefix // of real nodes in the lower half, of simulated ones in the upper
	Services netip.Prefix
}

// NetworkOf returns the address plan of a block: 10.88.b.0/24 for machines, and a /16 each for
// pods and Services. Clusters never share an address, so that their routes on the host and a
// person's memory of them cannot get mixed up.
func NetworkOf(block int) Network {
	b := byte(block)
	return Network{
		Machines: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 88, b, 0}), 24),
		Pods:     netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 128 + b, 0, 0}), 16),
		Services: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 96 + b, 0, 0}), 16),
	}
}

// ControlPlane is the address of the API server and the registry.
func (n Network) ControlPlane() netip.Addr { return at(n.Machines, 0, 1) }

// Host is the address of the host itself on the machines' network.
func (n Network) Host() netip.Addr { return at(n.Machines, 0, 2) }

// Node is the address of the real node with the given index, from 0.
func (n Network) Node(index int) netip.Addr { return at(n.Machines, 0, byte(11+index)) }

// NodePods are the addresses of the pods on a real node.
func (n Network) NodePods(index int) netip.Prefix {
	return netip.PrefixFrom(at(n.Pods, byte(1+index), 0), 24)
}

// SimulatedPods are the addresses kwok gives to pods; nothing answers there.
func (n Network) SimulatedPods() netip.Prefix {
	return netip.PrefixFrom(at(n.Pods, 128, 0), 17)
}

// APIService is the address of the Service "kubernetes".
func (n Network) APIService() netip.Addr { return at(n.Services, 0, 1) }

// DNSService is where pods look for a name server.
func (n Network) DNSService() netip.Addr { return at(n.Services, 0, 10) }

// Overlaps tells whether a route to the prefix would take traffic away from this network. A
// wider route does not: the more specific one wins.
func (n Network) Overlaps(route netip.Prefix) bool {
	for _, own := range []netip.Prefix{n.Machines, n.Pods, n.Services} {
		if own.Overlaps(route) && route.Bits() >= own.Bits() {
			return true
		}
	}
	return false
}

func at(prefix netip.Prefix, third, fourth byte) netip.Addr {
	b := prefix.Addr().As4()
	b[3] = fourth
	if prefix.Bits() == 16 {
		b[2] = third
	}
	return netip.AddrFrom4(b)
}

// Endpoints are where the control plane listens.
type Endpoints struct {
	Address           netip.Addr // API server and registry; the rest is on the loopback address
	APIServer         int
	EtcdClient        int
	EtcdPeer          int
	ControllerManager int
	Scheduler         int
	Registry          int
}

// Network returns the address plan of the cluster's block.
func (p Params) Network() Network { return NetworkOf(p.Block) }

// Endpoints returns where the control plane listens.
func (p Params) Endpoints() Endpoints {
	if p.Isolated() {
		return Endpoints{
			Address: p.Network().ControlPlane(), APIServer: portAPIServer,
			EtcdClient: portEtcdClient, EtcdPeer: portEtcdPeer,
			ControllerManager: portControllerManager, Scheduler: portScheduler, Registry: portRegistry,
		}
	}
	base := firstLoopbackPort + p.Block*portsPerBlock
	return Endpoints{
		Address: netip.MustParseAddr(loopback), APIServer: base,
		EtcdClient: base + 1, EtcdPeer: base + 2,
		ControllerManager: base + 3, Scheduler: base + 4, Registry: base + 5,
	}
}

// Ports lists all ports with the process that takes each.
func (e Endpoints) Ports() map[int]string {
	return map[int]string{
		e.APIServer: "kube-apiserver", e.EtcdClient: "etcd", e.EtcdPeer: "etcd",
		e.ControllerManager: "kube-controller-manager", e.Scheduler: "kube-scheduler", e.Registry: "registry",
	}
}

// APIServerURL is the API server's address for clients on the host and in pods alike.
func (p Params) APIServerURL() string {
	e := p.Endpoints()
	return fmt.Sprintf("https://%s:%d", e.Address, e.APIServer)
}

// RegistryHost is the registry's address, as it can stand in an image name.
func (p Params) RegistryHost() string {
	e := p.Endpoints()
	return fmt.Sprintf("%s:%d", e.Address, e.Registry)
}

// HostLink is the name of the cluster's only network interface on the host.
func (p Params) HostLink() string { return fmt.Sprintf("flotilla%d", p.Block) }

// Links are commands of ip(8) that connect a machine. Each list runs in the place its
// name says.
type Links struct {
	Host         []string
	ControlPlane []string
	Machine      []string
}

// LinkControlPlane connects the control plane's machine, whose first process is pid, to the
// host. The bridge of the cluster is inside, so the host's own forwarding and firewall rules
// never see what the nodes say to each other.
func (p Params) LinkControlPlane(pid int) Links {
	n := p.Network()
	l := Links{
		Host: []string{
			fmt.Sprintf("link add %s type veth peer name host netns %d", p.HostLink(), pid),
			fmt.Sprintf("address add %s/%d dev %s", n.Host(), n.Machines.Bits(), p.HostLink()),
			fmt.Sprintf("link set %s up", p.HostLink()),
		},
		ControlPlane: []string{
			"link set lo up",
			"link add cluster type bridge forward_delay 0",
			fmt.Sprintf("address add %s/%d dev cluster", n.ControlPlane(), n.Machines.Bits()),
			"link set cluster up",
			"link set host master cluster up",
			fmt.Sprintf("route add default via %s", n.Host()),
		},
	}
	pods := p.podRoutes(-1)
	l.ControlPlane = append(l.ControlPlane, pods...)
	l.Host = append(l.Host, pods...)
	// The first node's kube-proxy translates Service addresses for the host; its masquerading
	// brings the answers back the same way.
	l.Host = append(l.Host, fmt.Sprintf("route add %s via %s", n.Services, n.Node(0)))
	return l
}

// LinkNode connects the machine of a real node, whose first process is pid, to the bridge in the machine
// of the control plane. The pair of interfaces is made from the host, which alone sees the processes of
// both machines.
func (p Params) LinkNode(index, controlPlane, pid int) Links {
	n := p.Network()
	port := p.NodeNames()[index]
	return Links{
		Host: []string{fmt.Sprintf("link add %s netns %d type veth peer name eth0 address %s netns %d",
			port, controlPlane, hardwareAddress(n.Node(index)), pid)},
		ControlPlane: []string{fmt.Sprintf("link set %s master cluster up", port)},
		Machine: append([]string{
			"link set lo up",
			fmt.Sprintf("address add %s/%d dev eth0", n.Node(index), n.Machines.Bits()),
			"link set eth0 up",
			fmt.Sprintf("route add default via %s", n.Host()),
		}, p.podRoutes(index)...),
	}
}

// hardwareAddress is made from the IP address, so that a node that is made again has the one that
// its neighbours remember; they would take half a minute to ask for another.
func hardwareAddress(ip netip.Addr) string {
	b := ip.As4()
	return fmt.Sprintf("0a:58:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3])
}

// podRoutes lead to the pods of every node but one.
func (p Params) podRoutes(except int) []string {
	n := p.Network()
	var routes []string
	for i := range p.Nodes {
		if i != except {
			routes = append(routes, fmt.Sprintf("route add %s via %s", n.NodePods(i), n.Node(i)))
		}
	}
	return routes
}
