// Package lifecycle knows when the hooks of a workload hold a pod.
//
// A hook names labels and finalizers by which a user's own controller blocks a step in a pod's life
// (section 13 of the in-place engine). Which state follows which is decided by each workload's plan.
package lifecycle

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
)

// Hooked tells whether a hook blocks the pod: any of its finalizers, or any of its labels with the
// hook's value, is on the pod. A hook without handlers, or none at all, blocks nothing. A label must be
// there to block; a handler with an empty value does not hold pods that lack it (LC-1).
func Hooked(hook *appsv1beta1.LifecycleHook, pod *corev1.Pod) bool {
	if hook == nil {
		return false
	}
	for key, value := range hook.LabelsHandler {
		if hasLabel(pod, key, value) {
			return true
		}
	}
	return slices.ContainsFunc(hook.FinalizersHandler, func(f string) bool { return slices.Contains(pod.Finalizers, f) })
}

// AllHooked tells whether every handler of the hook is on the pod; false without a hook, true for a hook
// without handlers (LC-2).
func AllHooked(hook *appsv1beta1.LifecycleHook, pod *corev1.Pod) bool {
	if hook == nil {
		return false
	}
	for key, value := range hook.LabelsHandler {
		if !hasLabel(pod, key, value) {
			return false
		}
	}
	return !slices.ContainsFunc(hook.FinalizersHandler, func(f string) bool { return !slices.Contains(pod.Finalizers, f) })
}

// PutOn adds every handler of the hook to the pod in memory, so that the hook holds it again (LC-12).
func PutOn(hook *appsv1beta1.LifecycleHook, pod *corev1.Pod) {
	if len(hook.LabelsHandler) > 0 && pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	maps.Copy(pod.Labels, hook.LabelsHandler)
	for _, f := range hook.FinalizersHandler {
		if !slices.Contains(pod.Finalizers, f) {
			pod.Finalizers = append(pod.Finalizers, f)
		}
	}
}

func hasLabel(pod *corev1.Pod, key, value string) bool {
	have, found := pod.Labels[key]
	return found && have == value
}
