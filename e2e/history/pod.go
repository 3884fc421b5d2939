package history

import (
	corev1 "k8s.io/api/core/v1"
)

// Ready tells whether a pod is in service. One that is being deleted is not.
func Ready(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && conditionStatus(pod, corev1.PodReady) == corev1.ConditionTrue
}

// conditionStatus returns the status of a condition, empty without it.
func conditionStatus(pod *corev1.Pod, kind corev1.PodConditionType) corev1.ConditionStatus {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c.Status
		}
	}
	return ""
}

// ContainerID returns the ID of the first container, empty while there is none.
func ContainerID(pod *corev1.Pod) string {
	if len(pod.Status.ContainerStatuses) == 0 {
		return ""
	}
	return pod.Status.ContainerStatuses[0].ContainerID
}
