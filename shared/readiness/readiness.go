// Package readiness knows how the conditions behind Flotilla's readiness gates hold a pod not ready
// and let it become ready again.
//
// Its functions change a pod in memory, which must be the caller's own copy, and tell whether they
// changed it. StatusPatch sends the difference. Turning a gate off also makes the pod Ready=False at
// once, so that endpoints drain without waiting for the kubelet; turning it on leaves Ready to the
// kubelet, which alone knows the containers (IP-41).
package readiness

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
)

// StatusPatch is the patch from before to the pod it is sent with: exactly the conditions that
// differ, bound to the version of before. Send it to the status subresource.
func StatusPatch(before *corev1.Pod) client.Patch {
	return client.StrategicMergeFrom(before, client.MergeFromWithOptimisticLock{})
}

// BeginInPlace sets InPlaceUpdateReady to False and recomputes Ready. Source: IP-1, IP-40.
func BeginInPlace(pod *corev1.Pod, now time.Time) bool {
	changed := podstate.SetCondition(pod, corev1.PodCondition{
		Type:               wire.InPlaceUpdateReady,
		Status:             corev1.ConditionFalse,
		Reason:             wire.ReasonStartInPlaceUpdate,
		LastTransitionTime: metav1.NewTime(now),
	})
	return lowerReady(pod, now) || changed
}

// EndInPlace sets InPlaceUpdateReady to True without reason and message, also when it is True with
// them. Source: IP-1, IP-68.
func EndInPlace(pod *corev1.Pod, now time.Time) bool {
	return podstate.SetCondition(pod, corev1.PodCondition{
		Type:               wire.InPlaceUpdateReady,
		Status:             corev1.ConditionTrue,
		LastTransitionTime: metav1.NewTime(now),
	})
}

// lowerReady sets Ready to False if the containers are ready and a readiness gate is not, as the
// kubelet will do when it looks again. A pod that is not Ready already keeps its condition, and one
// whose containers are not ready is left to the kubelet. Source: IP-41, P-15.
func lowerReady(pod *corev1.Pod, now time.Time) bool {
	if !podstate.IsTrue(podstate.Condition(pod, corev1.PodReady)) ||
		!podstate.IsTrue(podstate.Condition(pod, corev1.ContainersReady)) {
		return false
	}
	unmet := unmetGates(pod)
	if len(unmet) == 0 {
		return false
	}
	return podstate.SetCondition(pod, corev1.PodCondition{
		Type:               corev1.PodReady,
		Status:             corev1.ConditionFalse,
		Reason:             wire.ReasonReadinessGatesNotReady,
		Message:            strings.Join(unmet, ", "),
		LastTransitionTime: metav1.NewTime(now),
	})
}

// unmetGates says of each readiness gate that is not met why, in the words of the kubelet: the
// message must not change again when the kubelet writes its own.
func unmetGates(pod *corev1.Pod) []string {
	var unmet []string
	for _, gate := range pod.Spec.ReadinessGates {
		condition := podstate.Condition(pod, gate.ConditionType)
		switch {
		case condition == nil:
			unmet = append(unmet, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", gate.ConditionType))
		case condition.Status != corev1.ConditionTrue:
			unmet = append(unmet, fmt.Sprintf("the status of pod readiness gate %q is not %q, but %v",
				gate.ConditionType, corev1.ConditionTrue, condition.Status))
		}
	}
	return unmet
}
