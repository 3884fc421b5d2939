package restart

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Reasons of events on a container, as the kubelet gives them.
const (
	reasonKilling       = "Killing"
	reasonFailedPreStop = "FailedPreStopHook"
	actionRestart       = "RestartingContainer"
)

// maxNote is what the API server takes as the text of an event, in bytes.
const maxNote = 1024

func (r *Reconciler) recordKilling(pod *corev1.Pod, container string) {
	r.Recorder.Eventf(containerOf(pod, container), nil, corev1.EventTypeNormal, reasonKilling, actionRestart,
		"Stopping container %s, which the kubelet starts again with the env that its pod's metadata gives it now", container)
}

func (r *Reconciler) recordFailedHook(pod *corev1.Pod, container string, reason error) {
	note := fmt.Sprintf("Container %s is stopped although its hook failed: %v", container, reason)
	r.Recorder.Eventf(containerOf(pod, container), nil, corev1.EventTypeWarning, reasonFailedPreStop, actionRestart,
		"%s", note[:min(len(note), maxNote)])
}

// containerOf refers to one container of a pod.
func containerOf(pod *corev1.Pod, container string) *corev1.ObjectReference {
	return &corev1.ObjectReference{
		APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID,
		FieldPath: "spec.containers{" + container + "}",
	}
}
