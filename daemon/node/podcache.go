package node

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/daemon/meta/plan"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/containerhash"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
)

// cacheOptions narrows the cache to the pods of one node, and to what the daemon reads of them, so that
// memory does not grow with the cluster. Nothing is delivered a second time without a change.
func cacheOptions(node string) cache.Options {
	return cache.Options{
		SyncPeriod: new(time.Duration),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}: {
				Field:     fields.OneTermEqualSelector("spec.nodeName", node),
				Transform: stripPod,
			},
		},
	}
}

// stripPod keeps what the daemon reads of a pod: of one whose containers are not reported its identity
// alone. Stripping twice changes nothing.
func stripPod(obj any) (any, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil // the last known state of a deleted pod
	}
	kept := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
		DeletionTimestamp: pod.DeletionTimestamp,
	}}
	if !plan.Concerns(pod) {
		return kept, nil
	}
	kept.OwnerReferences = pod.OwnerReferences
	kept.Spec.TerminationGracePeriodSeconds = pod.Spec.TerminationGracePeriodSeconds
	kept.Spec.Containers = stripContainers(pod.Spec.Containers)
	kept.Status.PodIP = pod.Status.PodIP
	kept.Labels, kept.Annotations = stripMetadata(pod)
	kept.Status.ContainerStatuses = stripStatuses(pod.Status.ContainerStatuses)
	if condition := podstate.Condition(pod, wire.InPlaceUpdateReady); condition != nil {
		kept.Status.Conditions = []corev1.PodCondition{{Type: condition.Type, Status: condition.Status}}
	}
	return kept, nil
}

// stripContainers keeps the names. Of a container that reads metadata, which may have to be restarted, it
// also keeps the image, the env entries that read metadata, and what its pre-stop hook needs.
func stripContainers(containers []corev1.Container) []corev1.Container {
	kept := make([]corev1.Container, 0, len(containers))
	for i := range containers {
		full := &containers[i]
		container := corev1.Container{Name: full.Name}
		if len(containerhash.References(full)) > 0 {
			container.Image = full.Image
			container.Env = slices.DeleteFunc(slices.Clone(full.Env), func(env corev1.EnvVar) bool {
				return env.ValueFrom == nil || env.ValueFrom.FieldRef == nil
			})
			if full.Lifecycle != nil && full.Lifecycle.PreStop != nil {
				container.Lifecycle = &corev1.Lifecycle{PreStop: full.Lifecycle.PreStop}
				container.Ports = full.Ports
			}
		}
		kept = append(kept, container)
	}
	return kept
}

// stripMetadata keeps the labels and annotations that env entries read, and those that the daemon reads.
func stripMetadata(pod *corev1.Pod) (labels, annotations map[string]string) {
	var readLabels []string
	readAnnotations := []string{wire.AnnotationRuntimeContainersMeta, plan.AnnotationSidecarSetHash}
	for i := range pod.Spec.Containers {
		for _, ref := range containerhash.References(&pod.Spec.Containers[i]) {
			if ref.Source == containerhash.Labels {
				readLabels = append(readLabels, ref.Key)
			} else {
				readAnnotations = append(readAnnotations, ref.Key)
			}
		}
	}
	return only(pod.Labels, readLabels), only(pod.Annotations, readAnnotations)
}

// only returns the entries with the given keys.
func only(all map[string]string, keys []string) map[string]string {
	var kept map[string]string
	for _, key := range keys {
		value, found := all[key]
		if !found {
			continue
		}
		if kept == nil {
			kept = make(map[string]string, len(keys))
		}
		kept[key] = value
	}
	return kept
}

// stripStatuses keeps which container is which.
func stripStatuses(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	kept := make([]corev1.ContainerStatus, 0, len(statuses))
	for i := range statuses {
		kept = append(kept, corev1.ContainerStatus{Name: statuses[i].Name, ContainerID: statuses[i].ContainerID})
	}
	return kept
}
