package lifecycle

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/cluster/simulate"
)

// client speaks to a cluster's API server as its administrator.
type client struct {
	core corev1client.CoreV1Interface
	made bool // our own objects are there
}

func newClient(c plan.Cluster) (*client, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.AdminKubeconfig())
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.QPS, config.Burst = 200, 400
	config.Timeout = 10 * time.Second
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &client{core: core}, nil
}

// waitingFor says what is not ready yet, and nothing once the cluster is. On the way it makes our
// own objects. An API server that does not answer is not ready; only what waiting cannot mend is
// an error.
func (k *client) waitingFor(ctx context.Context, c plan.Cluster) (string, error) {
	if err := k.core.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
		return "the API server", nil //nolint:nilerr // see above
	}
	if !k.made {
		if err := k.makeObjects(ctx, c); err != nil {
			return "", err
		}
		k.made = true
	}
	// This one is made by the controller manager, and no pod can be created before.
	_, err := k.core.ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "the default ServiceAccount", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the default ServiceAccount: %w", err)
	}
	return k.waitingForNodes(ctx, c)
}

func (k *client) waitingForNodes(ctx context.Context, c plan.Cluster) (string, error) {
	nodes, err := k.core.Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return "", fmt.Errorf("listing nodes: %w", err)
	}
	ready := map[string]bool{}
	for _, node := range nodes.Items {
		ready[node.Name] = nodeReady(node)
	}
	for _, name := range c.NodeNames() {
		if !ready[name] {
			return "node " + name, nil
		}
	}
	missing := 0
	for _, name := range c.SimulatedNames() {
		if !ready[name] {
			missing++
		}
	}
	if missing > 0 {
		return fmt.Sprintf("%d simulated nodes", missing), nil
	}
	return "", nil
}

func nodeReady(node corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// makeObjects makes what a cluster has from the start, unless it is there.
func (k *client) makeObjects(ctx context.Context, c plan.Cluster) error {
	if err := k.makeNameService(ctx, c); err != nil {
		return err
	}
	for _, node := range simulate.Nodes(c.Params) {
		_, err := k.core.Nodes().Create(ctx, node, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("making simulated node %s: %w", node.Name, err)
		}
	}
	return nil
}

// makeNameService looks before it creates: a second Service with the same address is refused for
// the address, before anybody looks at its name.
func (k *client) makeNameService(ctx context.Context, c plan.Cluster) error {
	services, want := k.core.Services(metav1.NamespaceSystem), nameService(c)
	_, err := services.Get(ctx, want.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = services.Create(ctx, want, metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("making the Service of the name server: %w", err)
	}
	return nil
}

// nameService is the Service at the address that pods take for their name server. Nobody is
// behind it, so every query is refused at once instead of being waited for, until somebody
// installs a name server with these labels.
func nameService(c plan.Cluster) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "kube-dns", Namespace: metav1.NamespaceSystem},
		Spec: corev1.ServiceSpec{
			ClusterIP: c.Network().DNSService().String(),
			Selector:  map[string]string{"k8s-app": "kube-dns"},
			Ports: []corev1.ServicePort{
				{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP},
				{Name: "dns-tcp", Port: 53, Protocol: corev1.ProtocolTCP},
			},
		},
	}
}
