// Package plan knows what a local cluster consists of: addresses, machines, programs with their
// arguments, configuration files and identities. It computes and never touches the system.
package plan

import (
	"fmt"
	"path/filepath"
	"regexp"
)

// ControlPlane is the machine that runs etcd, the API server, its controllers and the registry.
const ControlPlane = "control-plane"

// MaxNodes is how many real nodes the machines' network has room for.
const MaxNodes = 100

// Params are what distinguishes one cluster from another. They are recorded when it is first
// brought up and stay for its life.
type Params struct {
	Name      string `json:"name"`
	Block     int    `json:"block"`     // which of the address blocks it owns, 0 <= Block < Blocks
	Nodes     int    `json:"nodes"`     // real nodes
	Simulated int    `json:"simulated"` // nodes played by kwok
}

var clusterName = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,22}[a-z0-9])?$`)

// Validate reports the first parameter that cannot be.
func (p Params) Validate() error {
	if err := CheckName(p.Name); err != nil {
		return err
	}
	switch {
	case p.Nodes < 0 || p.Nodes > MaxNodes:
		return fmt.Errorf("%d nodes: want 0 to %d", p.Nodes, MaxNodes)
	case p.Simulated < 0:
		return fmt.Errorf("%d simulated nodes: want 0 or more", p.Simulated)
	case p.Block < 0 || p.Block >= Blocks:
		return fmt.Errorf("address block %d: want 0 to %d", p.Block, Blocks-1)
	}
	return nil
}

// CheckName reports a name that no cluster can have.
func CheckName(name string) error {
	if !clusterName.MatchString(name) {
		return fmt.Errorf("cluster name %q: want at most 24 lower case letters, digits and dashes, a letter first", name)
	}
	return nil
}

// Isolated tells whether the cluster lives in network namespaces. Real nodes need that; a
// cluster without them needs no rights and listens on the loopback address.
func (p Params) Isolated() bool { return p.Nodes > 0 }

// NodeNames lists the real nodes.
func (p Params) NodeNames() []string {
	names := make([]string, p.Nodes)
	for i := range names {
		names[i] = fmt.Sprintf("node-%d", i+1)
	}
	return names
}

// MachineNames lists the machines in the order they are started: the network of the nodes
// hangs on the control plane's. Without isolation there are none.
func (p Params) MachineNames() []string {
	if !p.Isolated() {
		return nil
	}
	return append([]string{ControlPlane}, p.NodeNames()...)
}

// SimulatedNames lists the simulated nodes.
func (p Params) SimulatedNames() []string {
	names := make([]string, p.Simulated)
	for i := range names {
		names[i] = fmt.Sprintf("simulated-%d", i+1)
	}
	return names
}

// Cluster is a cluster with the places of its files and programs.
type Cluster struct {
	Params
	Dir  string // everything the cluster writes
	Bin  string // programs built by package parts
	Self string // this program, for the processes that are part of it
}

// Paths of the cluster's files.
func (c Cluster) path(elems ...string) string {
	return filepath.Join(append([]string{c.Dir}, elems...)...)
}

// Kubeconfig returns the path of an identity's kubeconfig.
func (c Cluster) Kubeconfig(identity string) string { return c.path("pki", identity+".kubeconfig") }

// AdminKubeconfig returns the path of the kubeconfig meant for users.
func (c Cluster) AdminKubeconfig() string { return c.path("kubeconfig") }

// PKI returns the directory of keys and certificates.
func (c Cluster) PKI() string { return c.path("pki") }

// Log returns the path of a process's log.
func (c Cluster) Log(machine, process string) string {
	return c.path("logs", machine, process+".log")
}

// Registry returns the directory of the image registry.
func (c Cluster) Registry() string { return c.path("registry") }

func (c Cluster) cert(identity string) string { return c.path("pki", identity+".crt") }
func (c Cluster) key(identity string) string  { return c.path("pki", identity+".key") }
func (c Cluster) program(name string) string  { return filepath.Join(c.Bin, name) }

// CgroupRoot is the cluster's own cgroup, relative to the root of a hierarchy.
func (c Cluster) CgroupRoot() string { return "flotilla-" + c.Name }

// NodeCgroup is the cgroup under which a node's kubelet puts its pods.
func (c Cluster) NodeCgroup(node string) string { return filepath.Join(c.CgroupRoot(), node) }

// SimulatedAnnotation with SimulatedValue marks the nodes that kwok plays. A taint of the same
// key and value keeps ordinary pods away from them where there are real nodes.
const (
	SimulatedAnnotation = "kwok.x-k8s.io/node"
	SimulatedValue      = "fake"
)
