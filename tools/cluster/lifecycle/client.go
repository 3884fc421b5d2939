package lifecycle

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
)

// client speaks to a cluster's API server as its administrator.
type client struct {
	core   corev1client.CoreV1Interface
	leases coordinationv1client.LeaseInterface // of nodes
	made   bool                                // our own objects are there
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
	coordination, err := coordinationv1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &client{core: core, leases: coordination.Leases(corev1.NamespaceNodeLease)}, nil
}

// serving tells whether the API server answers and is ready.
func (k *client) serving(ctx context.Context) bool {
	return k.core.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil
}

// forgetLeases deletes the leases of nodes whose kubelet, real or simulated, is about to start.
// What the API server remembers of a node says nothing about the new one; a new lease does. And
// kwok would wait for the old lease to run out.
func (k *client) forgetLeases(ctx context.Context, nodes []string) error {
	have, err := k.leaseNames(ctx)
	if err != nil {
		return err
	}
	for _, node := range nodes {
		if !have[node] {
			continue
		}
		if err := k.leases.Delete(ctx, node, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting the lease of %s: %w", node, err)
		}
	}
	return nil
}

func (k *client) leaseNames(ctx context.Context) (map[string]bool, error) {
	list, err := k.leases.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing the leases of nodes: %w", err)
	}
	names := map[string]bool{}
	for _, lease := range list.Items {
		names[lease.Name] = true
	}
	return names, nil
}

// waitingFor says what is not ready yet, and nothing once the cluster is. On the way it makes our
// own objects. An API server that serves and still fails is waited for like one that does not.
func (k *client) waitingFor(ctx context.Context, c plan.Cluster) string {
	waiting, err := k.missing(ctx, c)
	if err != nil {
		return fmt.Sprintf("the API server (%v)", err)
	}
	return waiting
}

func (k *client) missing(ctx context.Context, c plan.Cluster) (string, error) {
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
	nodes, err := k.core.Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", fmt.Errorf("listing nodes: %w", err)
	}
	leases, err := k.leaseNames(ctx)
	if err != nil {
		return "", err
	}
	ready := map[string]bool{}
	for _, node := range nodes.Items {
		ready[node.Name] = nodeReady(node) && leases[node.Name]
	}
	return missingNodes(c.Params, ready), nil
}

// missingNodes says which nodes are not ready yet.
func missingNodes(p plan.Params, ready map[string]bool) string {
	for _, name := range p.NodeNames() {
		if !ready[name] {
			return "node " + name
		}
	}
	missing := 0
	for _, name := range p.SimulatedNames() {
		if !ready[name] {
			missing++
		}
	}
	if missing > 0 {
		return fmt.Sprintf("%d simulated nodes", missing)
	}
	return ""
}

func nodeReady(node corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
