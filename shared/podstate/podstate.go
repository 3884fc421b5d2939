// Package podstate knows how to read from a pod whether it is active, ready and available.
package podstate

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// IsActive tells whether a pod is neither finished nor being deleted.
func IsActive(pod *corev1.Pod) bool {
	return pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed &&
		pod.DeletionTimestamp == nil
}

// IsReady tells whether a pod runs, is Ready and is not being updated in place. A pod without the
// condition InPlaceUpdateReady passes the last check. Source: IP-89.
func IsReady(pod *corev1.Pod) bool {
	if pod.Status.Phase != corev1.PodRunning || !IsTrue(Condition(pod, corev1.PodReady)) {
		return false
	}
	inPlace := Condition(pod, wire.InPlaceUpdateReady)
	return inPlace == nil || IsTrue(inPlace)
}

// IsAvailable tells whether a pod has been ready for minReadySeconds at the time now. If it is not,
// wait is how long it takes until time alone makes it available, or 0 if that is unknown because the
// pod is not ready. Source: C-10.
func IsAvailable(pod *corev1.Pod, minReadySeconds int32, now time.Time) (available bool, wait time.Duration) {
	if !IsReady(pod) {
		return false, 0
	}
	if minReadySeconds <= 0 {
		return true, 0
	}
	since := Condition(pod, corev1.PodReady).LastTransitionTime
	if since.IsZero() {
		return false, 0
	}
	wait = since.Add(time.Duration(minReadySeconds) * time.Second).Sub(now)
	if wait <= 0 {
		return true, 0
	}
	return false, wait
}

// IsServiceable is IsAvailable for pods with a lifecycle: in a state between creation, update and
// deletion a pod is not available however ready it is, and wait is 0. Source: section 13.2.
func IsServiceable(pod *corev1.Pod, minReadySeconds int32, now time.Time) (serviceable bool, wait time.Duration) {
	if !InService(pod) {
		return false, 0
	}
	return IsAvailable(pod, minReadySeconds, now)
}

// Lifecycle returns the lifecycle state of a pod; empty if it has none.
func Lifecycle(pod *corev1.Pod) wire.LifecycleState {
	return wire.LifecycleState(pod.Labels[wire.LabelLifecycleState])
}

// InService tells whether the lifecycle state of a pod lets it be available: no state, or Normal.
// Source: section 13.2.
func InService(pod *corev1.Pod) bool {
	state := Lifecycle(pod)
	return state == "" || state == wire.LifecycleNormal
}

// SetLifecycle writes a lifecycle state and the time of its change on a pod in memory, and tells
// whether that changed the pod: a pod that is in the state keeps its time. Source: LC-18.
func SetLifecycle(pod *corev1.Pod, state wire.LifecycleState, now time.Time) bool {
	if Lifecycle(pod) == state {
		return false
	}
	metav1.SetMetaDataLabel(&pod.ObjectMeta, wire.LabelLifecycleState, string(state))
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, wire.AnnotationLifecycleTimestamp, now.Format(time.RFC3339))
	return true
}
