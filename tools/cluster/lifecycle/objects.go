package lifecycle

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/cluster/simulate"
)

// makeObjects makes what a cluster has from the start, unless it is there.
func (k *client) makeObjects(ctx context.Context, c plan.Cluster) error {
	if err := k.makeNameService(ctx, c); err != nil {
		return err
	}
	return k.makeSimulatedNodes(ctx, c)
}

func (k *client) makeSimulatedNodes(ctx context.Context, c plan.Cluster) error {
	list, err := k.core.Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing nodes: %w", err)
	}
	have := map[string]bool{}
	for _, node := range list.Items {
		have[node.Name] = true
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for _, node := range simulate.Nodes(c.Params) {
		if have[node.Name] {
			continue
		}
		group.Go(func() error {
			if _, err := k.core.Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("making simulated node %s: %w", node.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
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
