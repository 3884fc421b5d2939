package plan

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// AnnotationSidecarSetHash stands on pods into which a SidecarSet injected containers.
const AnnotationSidecarSetHash = "kruise.io/sidecarset-hash"

// Concerns reports whether the containers of a pod are reported at all: those of our workloads, and
// those with injected sidecars. Source: IP-81, M-15.
func Concerns(pod *corev1.Pod) bool {
	if _, injected := pod.Annotations[AnnotationSidecarSetHash]; injected {
		return true
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return false
	}
	version, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && version.Group == v1beta1.GroupName
}

// Due reports whether the annotation of a pod may have to be written: a container has an ID that is not
// reported, or one whose env hash is missing. Container and entry are matched by name (P-17, KP-13).
// A pod that is being deleted is left alone. Source: IP-83, M-17, M-18.
func Due(pod *corev1.Pod, withEnv bool) bool {
	if pod.DeletionTimestamp != nil || !Concerns(pod) || ContainerID(pod) == "" {
		return false
	}
	reported, err := wire.GetRuntimeContainersMeta(pod)
	if err != nil || reported == nil || len(reported.Containers) > len(pod.Status.ContainerStatuses) {
		return true
	}
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		entry := reported.Container(status.Name)
		switch {
		case status.ContainerID == "":
		case entry == nil, entry.ContainerID != status.ContainerID:
			return true
		case withEnv && entry.Hashes.ExtractedEnvFromMetadataHash == 0:
			return true
		}
	}
	return false
}

// DueAtStart is Due for a pod that was there before the daemon. One without the annotation waits for
// its next change, which spares the API server a write for every pod when the daemon is rolled out
// (M-16), unless an in-place update waits for the annotation now (M-31).
func DueAtStart(pod *corev1.Pod, withEnv bool) bool {
	_, reported := pod.Annotations[wire.AnnotationRuntimeContainersMeta]
	return (reported || UpdatingInPlace(pod)) && Due(pod, withEnv)
}

// ContainerID returns the ID of any container that has one, by which the pod's runtime is found
// (KP-14), or nothing.
func ContainerID(pod *corev1.Pod) string {
	for i := range pod.Status.ContainerStatuses {
		if id := pod.Status.ContainerStatuses[i].ContainerID; id != "" {
			return id
		}
	}
	return ""
}
