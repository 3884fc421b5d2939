package plan

// Names of the files in the PKI directory that are no identities.
const (
	Authority               = "ca"
	ServiceAccounts         = "sa"
	ServiceAccountPublicKey = "sa.pub"
)

// AdminIdentity is the user of the kubeconfig that "cluster up" prints.
const AdminIdentity = "admin"

const (
	apiServerIdentity         = "kube-apiserver"
	kubeletClientIdentity     = "kubelet-client"
	controllerManagerIdentity = "kube-controller-manager"
	schedulerIdentity         = "kube-scheduler"
	proxyIdentity             = "kube-proxy"
	kwokIdentity              = "kwok"
)

// Identity is a certificate and, for clients, a kubeconfig.
type Identity struct {
	Name              string
	User              string
	Groups            []string
	Hosts             []string // names and addresses it serves under; none for a mere client
	WithoutKubeconfig bool
}

// Identities lists everyone who has a certificate of the cluster's authority.
func (c Cluster) Identities() []Identity {
	const masters = "system:masters"
	n, e := c.Network(), c.Endpoints()
	list := []Identity{
		{
			Name: apiServerIdentity, User: "kube-apiserver", WithoutKubeconfig: true,
			Hosts: []string{
				"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
				"localhost", loopback, e.Address.String(), n.APIService().String(),
			},
		},
		{Name: kubeletClientIdentity, User: "kube-apiserver-kubelet-client", Groups: []string{masters}, WithoutKubeconfig: true},
		{Name: AdminIdentity, User: "kubernetes-admin", Groups: []string{masters}},
		{Name: controllerManagerIdentity, User: "system:kube-controller-manager"},
		{Name: schedulerIdentity, User: "system:kube-scheduler"},
		{Name: proxyIdentity, User: "system:kube-proxy"},
		{Name: kwokIdentity, User: "kwok", Groups: []string{masters}},
	}
	for i, node := range c.NodeNames() {
		list = append(list, Identity{
			Name: node, User: "system:node:" + node, Groups: []string{"system:nodes"},
			Hosts: []string{node, n.Node(i).String()},
		})
	}
	return list
}
