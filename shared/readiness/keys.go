package readiness

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
)

// AddKey makes a key hold a pod not ready through KruisePodReady. Nothing happens on a pod without
// the readiness gate. A message that cannot be read is an error, since other writers' keys would be
// lost. Source: IP-93, P-13.
func AddKey(pod *corev1.Pod, key wire.ReadinessKey, now time.Time) (bool, error) {
	if !podstate.HasGate(pod, wire.KruisePodReady) {
		return false, nil
	}
	keys, err := heldBy(pod)
	if err != nil {
		return false, err
	}
	if !slices.Contains(keys, key) {
		keys = append(keys, key)
	}
	changed := setKeys(pod, keys, now)
	return lowerReady(pod, now) || changed, nil
}

// RemoveKey takes back a key; with the last one the condition turns True. Nothing happens on a pod
// that is not held by the key. Source: IP-94.
func RemoveKey(pod *corev1.Pod, key wire.ReadinessKey, now time.Time) (bool, error) {
	keys, err := heldBy(pod)
	if err != nil || !slices.Contains(keys, key) {
		return false, err
	}
	keys = slices.DeleteFunc(keys, func(k wire.ReadinessKey) bool { return k == key })
	return setKeys(pod, keys, now), nil
}

// Initialize gives a pod that has the readiness gate KruisePodReady and no such condition the
// condition True. Source: IP-91.
func Initialize(pod *corev1.Pod, now time.Time) bool {
	if !podstate.HasGate(pod, wire.KruisePodReady) || podstate.Condition(pod, wire.KruisePodReady) != nil {
		return false
	}
	return podstate.SetCondition(pod, corev1.PodCondition{
		Type: wire.KruisePodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now),
	})
}

func heldBy(pod *corev1.Pod) ([]wire.ReadinessKey, error) {
	condition := podstate.Condition(pod, wire.KruisePodReady)
	if condition == nil {
		return nil, nil
	}
	return wire.ParseReadinessKeys(condition.Message)
}

func setKeys(pod *corev1.Pod, keys []wire.ReadinessKey, now time.Time) bool {
	status := corev1.ConditionFalse
	if len(keys) == 0 {
		status = corev1.ConditionTrue
	}
	return podstate.SetCondition(pod, corev1.PodCondition{
		Type:               wire.KruisePodReady,
		Status:             status,
		Message:            wire.FormatReadinessKeys(keys),
		LastTransitionTime: metav1.NewTime(now),
	})
}
