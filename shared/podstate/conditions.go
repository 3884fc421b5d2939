package podstate

import (
	corev1 "k8s.io/api/core/v1"
)

// Condition returns a condition of a pod, or nil. The result points into the pod.
func Condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// IsTrue tells whether a condition is there and True.
func IsTrue(c *corev1.PodCondition) bool {
	return c != nil && c.Status == corev1.ConditionTrue
}

// SetCondition writes status, reason and message of a condition on a pod in memory and tells whether
// any of them changed. The transition time given is taken only when the status changes; what else
// the condition holds stays.
func SetCondition(pod *corev1.Pod, wanted corev1.PodCondition) bool {
	existing := Condition(pod, wanted.Type)
	if existing == nil {
		pod.Status.Conditions = append(pod.Status.Conditions, wanted)
		return true
	}
	if existing.Status == wanted.Status && existing.Reason == wanted.Reason && existing.Message == wanted.Message {
		return false
	}
	if existing.Status != wanted.Status {
		existing.LastTransitionTime = wanted.LastTransitionTime
	}
	existing.Status, existing.Reason, existing.Message = wanted.Status, wanted.Reason, wanted.Message
	return true
}

// HasGate tells whether a pod has a readiness gate.
func HasGate(pod *corev1.Pod, gate corev1.PodConditionType) bool {
	for _, g := range pod.Spec.ReadinessGates {
		if g.ConditionType == gate {
			return true
		}
	}
	return false
}

// ContainerStatus returns the status of a regular container by name, or nil. The result points into
// the pod.
func ContainerStatus(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].Name == name {
			return &pod.Status.ContainerStatuses[i]
		}
	}
	return nil
}
