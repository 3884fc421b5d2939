package plan

import (
	"fmt"
	"strings"
)

// Process is one program to keep running.
type Process struct {
	Machine string // ControlPlane or a node
	Name    string
	Program string // absolute path; empty for this program itself
	Args    []string
	Env     []string

	// What must be there before it is started.
	NeedsFile string // inside the machine
	NeedsAPI  bool   // an API server that answers
}

// ID names the process within the cluster, as "cluster logs" takes it.
func (p Process) ID() string {
	if p.Machine == ControlPlane {
		return p.Name
	}
	return p.Machine + "/" + p.Name
}

// Names of processes that the starter treats with care.
const (
	Kubelet = "kubelet"
	Kwok    = "kwok"
)

// Command is what distinguishes a start of the process from another: its program and arguments.
func (p Process) Command() []string { return append([]string{p.Program}, p.Args...) }

// ContainerdSocket is where a node's containerd answers, seen from inside the node.
const ContainerdSocket = "/run/containerd/containerd.sock"

// Processes lists everything that runs, in the order of starting.
func (c Cluster) Processes() []Process {
	list := []Process{
		c.etcd(), c.apiServer(), c.controllerManager(), c.scheduler(), c.registry(),
	}
	if c.Simulated > 0 {
		list = append(list, c.kwok())
	}
	for i, node := range c.NodeNames() {
		list = append(list, c.containerd(node), c.kubelet(i, node), c.kubeProxy(node))
	}
	return list
}

func (c Cluster) etcd() Process {
	e := c.Endpoints()
	client := fmt.Sprintf("http://%s:%d", loopback, e.EtcdClient)
	peer := fmt.Sprintf("http://%s:%d", loopback, e.EtcdPeer)
	return c.controlPlane("etcd",
		"--name="+c.Name,
		"--data-dir="+c.path("etcd"),
		"--listen-client-urls="+client,
		"--advertise-client-urls="+client,
		"--listen-peer-urls="+peer,
		"--initial-advertise-peer-urls="+peer,
		"--initial-cluster="+c.Name+"="+peer,
		"--log-level=warn",
		// A crash of the machine may cost the cluster; waiting for the disk on every write
		// would cost every test.
		"--unsafe-no-fsync",
	)
}

func (c Cluster) apiServer() Process {
	e, n := c.Endpoints(), c.Network()
	args := []string{
		fmt.Sprintf("--etcd-servers=http://%s:%d", loopback, e.EtcdClient),
		fmt.Sprintf("--bind-address=%s", e.Address),
		fmt.Sprintf("--secure-port=%d", e.APIServer),
		fmt.Sprintf("--advertise-address=%s", e.Address),
		"--tls-cert-file=" + c.cert(apiServerIdentity),
		"--tls-private-key-file=" + c.key(apiServerIdentity),
		"--client-ca-file=" + c.cert(Authority),
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true",
		fmt.Sprintf("--service-cluster-ip-range=%s", n.Services),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.path("pki", ServiceAccountPublicKey),
		"--service-account-signing-key-file=" + c.key(ServiceAccounts),
		"--kubelet-preferred-address-types=InternalIP",
		"--kubelet-certificate-authority=" + c.cert(Authority),
		"--kubelet-client-certificate=" + c.cert(kubeletClientIdentity),
		"--kubelet-client-key=" + c.key(kubeletClientIdentity),
		// Webhooks named by Service are called at the pod's own address, so that the control
		// plane needs no Service routing.
		"--enable-aggregator-routing=true",
		"--profiling=false",
	}
	if !c.Isolated() {
		// The loopback address may not stand in the endpoints of the Service "kubernetes".
		args = append(args, "--endpoint-reconciler-type=none")
	}
	return c.controlPlane("kube-apiserver", args...)
}

func (c Cluster) controllerManager() Process {
	return c.controlPlaneClient("kube-controller-manager",
		"--kubeconfig="+c.Kubeconfig(controllerManagerIdentity),
		fmt.Sprintf("--bind-address=%s", loopback),
		fmt.Sprintf("--secure-port=%d", c.Endpoints().ControllerManager),
		"--leader-elect=false",
		"--use-service-account-credentials=true",
		"--service-account-private-key-file="+c.key(ServiceAccounts),
		"--root-ca-file="+c.cert(Authority),
		"--cluster-signing-cert-file="+c.cert(Authority),
		"--cluster-signing-key-file="+c.key(Authority),
		// What is measured on this cluster should be limited by the thing measured.
		"--kube-api-qps=200",
		"--kube-api-burst=400",
		"--profiling=false",
	)
}

func (c Cluster) scheduler() Process {
	return c.controlPlaneClient("kube-scheduler",
		"--config="+c.path("etc", "scheduler.yaml"),
		fmt.Sprintf("--bind-address=%s", loopback),
		fmt.Sprintf("--secure-port=%d", c.Endpoints().Scheduler),
	)
}

func (c Cluster) kwok() Process {
	return c.controlPlaneClient(Kwok,
		"--kubeconfig="+c.Kubeconfig(kwokIdentity),
		"--config="+c.path("etc", "kwok.yaml"),
		"--manage-nodes-with-annotation-selector="+SimulatedAnnotation+"="+SimulatedValue,
		fmt.Sprintf("--cidr=%s", c.Network().SimulatedPods()),
		fmt.Sprintf("--node-ip=%s", c.Endpoints().Address),
		"--node-lease-duration-seconds=40",
		"--v=WARN", // else a line for every lease and pod
	)
}

func (c Cluster) registry() Process {
	p := c.controlPlane("registry", "registry", "--dir="+c.Registry(), "--listen="+c.RegistryHost())
	p.Program = ""
	return p
}

func (c Cluster) containerd(node string) Process {
	return Process{
		Machine: node, Name: "containerd", Program: c.program("containerd"),
		Args: []string{"--config=" + c.path("etc", node, "containerd.toml")},
		// The shim is looked up next to containerd.
		Env: []string{"PATH=" + c.Bin + ":" + systemPath},
	}
}

func (c Cluster) kubelet(index int, node string) Process {
	return Process{
		Machine: node, Name: Kubelet, Program: c.program(Kubelet),
		Args: []string{
			"--config=" + c.path("etc", node, "kubelet.yaml"),
			"--kubeconfig=" + c.Kubeconfig(node),
			"--hostname-override=" + node,
			fmt.Sprintf("--node-ip=%s", c.Network().Node(index)),
			fmt.Sprintf("--node-labels=topology.kubernetes.io/region=local,topology.kubernetes.io/zone=zone-%d", index%3+1),
		},
		Env:       []string{"PATH=" + systemPath},
		NeedsFile: ContainerdSocket,
		NeedsAPI:  true,
	}
}

func (c Cluster) kubeProxy(node string) Process {
	return Process{
		Machine: node, Name: "kube-proxy", Program: c.program("kube-proxy"),
		Args:     []string{"--config=" + c.path("etc", node, "kube-proxy.yaml")},
		Env:      []string{"PATH=" + systemPath},
		NeedsAPI: true,
	}
}

const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

func (c Cluster) controlPlane(name string, args ...string) Process {
	return Process{
		Machine: ControlPlane, Name: name, Program: c.program(name), Args: args,
		Env: []string{"PATH=" + systemPath},
	}
}

// controlPlaneClient is a program of the control plane that has nothing to do without its API.
func (c Cluster) controlPlaneClient(name string, args ...string) Process {
	p := c.controlPlane(name, args...)
	p.NeedsAPI = true
	return p
}

// Machine is a set of namespaces that stands for one machine.
type Machine struct {
	Name    string
	Init    []string          // first process, with its arguments
	Tmpfs   []string          // directories that start empty and vanish with the machine
	Binds   map[string]string // directory inside -> directory on the host that is mounted there
	Sysctls map[string]string // below /proc/sys
}

// Machines lists the machines in the order of starting.
func (c Cluster) Machines() []Machine {
	var list []Machine
	for _, name := range c.MachineNames() {
		m := Machine{
			Name: name,
			Init: []string{c.program("pause"), strings.Join([]string{c.Name, name}, "/")},
			Sysctls: map[string]string{
				"net/ipv4/ip_forward":                  "1",
				"net/ipv4/conf/all/send_redirects":     "0",
				"net/ipv4/conf/default/send_redirects": "0",
			},
		}
		if name != ControlPlane {
			m.Tmpfs = []string{"/run"}
			m.Binds = map[string]string{}
			for _, dir := range []string{"/var/lib/containerd", "/var/lib/kubelet", "/var/lib/cni", "/var/log"} {
				m.Binds[dir] = c.path("nodes", name, dir)
			}
			// Answers between pods of one node cross its bridge and must meet the rules that
			// translated the question.
			m.Sysctls["net/bridge/bridge-nf-call-iptables"] = "1"
		}
		list = append(list, m)
	}
	return list
}
