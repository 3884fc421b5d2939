package server

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// foreignPods returns those names that are pods in the namespace of owner and not controlled by it. Pods
// are read one by one and without their spec: names to delete are few, and a cache of all pods would cost
// far more.
func foreignPods(ctx context.Context, reader client.Reader, owner metav1.Object, names []string) (sets.Set[string], error) {
	foreign := sets.New[string]()
	for _, name := range names {
		pod := &metav1.PartialObjectMetadata{}
		pod.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
		err := reader.Get(ctx, client.ObjectKey{Namespace: owner.GetNamespace(), Name: name}, pod)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading pod %s: %w", name, err)
		}
		if controller := metav1.GetControllerOfNoCopy(pod); controller == nil || controller.UID != owner.GetUID() {
			foreign.Insert(name)
		}
	}
	return foreign, nil
}
