package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1alpha1"
	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
)

// Names of the installation.
const (
	systemNamespace = "flotilla-system"
	workloadsName   = "kruise-workloads"
	webhookName     = "kruise-webhook"
	daemonName      = "kruise-daemon"
)

// simulatedAnnotation marks the nodes that kwok plays.
const simulatedAnnotation = "kwok.x-k8s.io/node"

// cluster is the cluster under test.
type cluster struct {
	client.WithWatch
	// core reads logs, which the other client cannot.
	core kubernetes.Interface
	// simulated says that no node has a kubelet. Then Flotilla's parts are not pods of the cluster either.
	simulated bool
}

// kubeconfig returns the path that KUBECONFIG names.
func kubeconfig() (string, error) {
	path := os.Getenv("KUBECONFIG")
	if path == "" {
		return "", errors.New("KUBECONFIG is not set: the end-to-end tests need a cluster with Flotilla in it; " +
			"`make e2e` makes one, runs them and takes it down")
	}
	return path, nil
}

// connect returns a client for the cluster of a kubeconfig.
func connect(ctx context.Context, path string) (*cluster, error) {
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return nil, fmt.Errorf("reading kubeconfig %s: %w", path, err)
	}
	// Many tests at once share the client.
	config.QPS, config.Burst = 200, 400
	c := &cluster{}
	if c.WithWatch, err = newClient(config); err != nil {
		return nil, err
	}
	if c.core, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	c.simulated, err = c.onlySimulated(ctx)
	return c, err
}

func newClient(config *rest.Config) (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, v1beta1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("collecting kinds: %w", err)
		}
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return c, nil
}

func (c *cluster) onlySimulated(ctx context.Context) (bool, error) {
	var nodes corev1.NodeList
	if err := c.List(ctx, &nodes); err != nil {
		return false, fmt.Errorf("listing nodes: %w", err)
	}
	if len(nodes.Items) == 0 {
		return false, errors.New("the cluster has no node")
	}
	for _, node := range nodes.Items {
		if _, simulated := node.Annotations[simulatedAnnotation]; !simulated {
			return false, nil
		}
	}
	return true, nil
}

// notReady says what part of Flotilla is not ready, and nothing once all are.
func (c *cluster) notReady(ctx context.Context) (string, error) {
	if c.simulated {
		return c.notAdmitting(ctx)
	}
	for _, name := range []string{workloadsName, webhookName} {
		var d appsv1.Deployment
		if err := c.Get(ctx, client.ObjectKey{Namespace: systemNamespace, Name: name}, &d); err != nil {
			return "", fmt.Errorf("reading Deployment %s (is Flotilla installed?): %w", name, err)
		}
		if want := *d.Spec.Replicas; d.Status.ObservedGeneration < d.Generation || d.Status.AvailableReplicas != want || d.Status.Replicas != want {
			return fmt.Sprintf("Deployment %s: %d of %d pods available", name, d.Status.AvailableReplicas, want), nil
		}
	}
	var d appsv1.DaemonSet
	if err := c.Get(ctx, client.ObjectKey{Namespace: systemNamespace, Name: daemonName}, &d); err != nil {
		return "", fmt.Errorf("reading DaemonSet %s (is Flotilla installed?): %w", daemonName, err)
	}
	if d.Status.ObservedGeneration < d.Generation || d.Status.NumberAvailable == 0 || d.Status.NumberAvailable != d.Status.DesiredNumberScheduled {
		return fmt.Sprintf("DaemonSet %s: %d of %d pods available", daemonName, d.Status.NumberAvailable, d.Status.DesiredNumberScheduled), nil
	}
	return c.notAdmitting(ctx)
}

// notAdmitting says why the API server would not create a CloneSet, if it would not.
func (c *cluster) notAdmitting(ctx context.Context) (string, error) {
	set := web("probe", 1)
	set.Namespace = "default"
	if err := c.Create(ctx, set, client.DryRunAll); err != nil {
		return "admission: " + err.Error(), nil //nolint:nilerr // waiting may mend it
	}
	return "", nil
}
