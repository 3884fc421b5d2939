package podstate_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
)

var now = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

func readyPod(change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{Status: corev1.PodStatus{
		Phase: corev1.PodRunning,
		Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-10 * time.Second))}},
	}}
	for _, c := range change {
		c(pod)
	}
	return pod
}

func condition(kind corev1.PodConditionType, status corev1.ConditionStatus) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { podstate.SetCondition(pod, corev1.PodCondition{Type: kind, Status: status}) }
}

func state(s wire.LifecycleState) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { podstate.SetLifecycle(pod, s, now) }
}

func phase(p corev1.PodPhase) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.Phase = p }
}

func readySince(at time.Time) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.Conditions[0].LastTransitionTime = metav1.NewTime(at) }
}

func TestIsActive(t *testing.T) {
	deleted := func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: now} }
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"running":       {readyPod(), true},
		"pending":       {readyPod(phase(corev1.PodPending)), true},
		"succeeded":     {readyPod(phase(corev1.PodSucceeded)), false},
		"failed":        {readyPod(phase(corev1.PodFailed)), false},
		"being deleted": {readyPod(deleted), false},
	} {
		if got := podstate.IsActive(c.pod); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestIsReady(t *testing.T) {
	for _, c := range []struct {
		name string
		pod  *corev1.Pod
		want bool
	}{
		{"IP-89: Ready, without the in-place condition", readyPod(), true},
		{"IP-89: Ready, the in-place condition True", readyPod(condition(wire.InPlaceUpdateReady, corev1.ConditionTrue)), true},
		{"IP-89: Ready, the in-place condition False", readyPod(condition(wire.InPlaceUpdateReady, corev1.ConditionFalse)), false},
		{"not running", readyPod(phase(corev1.PodPending)), false},
		{"not Ready", readyPod(condition(corev1.PodReady, corev1.ConditionFalse)), false},
		{"no condition", &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := podstate.IsReady(c.pod); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestIsAvailable(t *testing.T) {
	for _, c := range []struct {
		name       string
		pod        *corev1.Pod
		minReady   int32
		want       bool
		wait       time.Duration
		inLifetime bool
	}{
		{"ready and no time asked for", readyPod(readySince(now)), 0, true, 0, true},
		{"ready for longer than asked", readyPod(), 9, true, 0, true},
		{"ready for exactly as long", readyPod(), 10, true, 0, true},
		{"C-10: the rest is what it waits", readyPod(), 13, false, 3 * time.Second, false},
		{"C-10: of a fraction too", readyPod(readySince(now.Add(-500 * time.Millisecond))), 1, false, 500 * time.Millisecond, false},
		{"ready since an unknown time", readyPod(readySince(time.Time{})), 1, false, 0, false},
		{"C-10: not ready, so time alone is not enough", readyPod(phase(corev1.PodPending)), 13, false, 0, false},
		{"13.2: Normal is in service", readyPod(state(wire.LifecycleNormal)), 0, true, 0, true},
		{"13.2: PreparingNormal is not", readyPod(state(wire.LifecyclePreparingNormal)), 0, true, 0, false},
		{"13.2: PreparingUpdate is not", readyPod(state(wire.LifecyclePreparingUpdate)), 0, true, 0, false},
		{"13.2: Updating is not", readyPod(state(wire.LifecycleUpdating)), 0, true, 0, false},
		{"13.2: Updated is not", readyPod(state(wire.LifecycleUpdated)), 0, true, 0, false},
		{"13.2: PreparingDelete is not", readyPod(state(wire.LifecyclePreparingDelete)), 0, true, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, wait := podstate.IsAvailable(c.pod, c.minReady, now); got != c.want || wait != c.wait {
				t.Errorf("available: got %v after %v", got, wait)
			}
			if got, wait := podstate.IsServiceable(c.pod, c.minReady, now); got != c.inLifetime || wait != c.wait {
				t.Errorf("serviceable: got %v after %v", got, wait)
			}
		})
	}
}

func TestSetLifecycle(t *testing.T) {
	pod := readyPod()
	zone := time.FixedZone("east", 3600)
	if !podstate.SetLifecycle(pod, wire.LifecycleUpdating, now.In(zone)) || podstate.Lifecycle(pod) != wire.LifecycleUpdating {
		t.Errorf("LC-18: got labels %v", pod.Labels)
	}
	want := map[string]string{"lifecycle.apps.kruise.io/timestamp": "2026-03-01T11:00:00+01:00"}
	if diff := cmp.Diff(want, pod.Annotations); diff != "" {
		t.Errorf("1.1: %s", diff)
	}
	if podstate.SetLifecycle(pod, wire.LifecycleUpdating, now.Add(time.Hour)) {
		t.Error("LC-18: the wanted state was written again")
	}
	if diff := cmp.Diff(want, pod.Annotations); diff != "" {
		t.Errorf("LC-18: %s", diff)
	}
}

func TestSetCondition(t *testing.T) {
	pod := readyPod()
	since := podstate.Condition(pod, corev1.PodReady).LastTransitionTime
	podstate.Condition(pod, corev1.PodReady).ObservedGeneration = 3
	same := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now)}
	if podstate.SetCondition(pod, same) {
		t.Error("the same condition is a change")
	}
	worded := same
	worded.Reason = "Because"
	if !podstate.SetCondition(pod, worded) || !podstate.Condition(pod, corev1.PodReady).LastTransitionTime.Equal(&since) {
		t.Error("another reason is a change, but no transition")
	}
	turned := same
	turned.Status = corev1.ConditionFalse
	if !podstate.SetCondition(pod, turned) {
		t.Error("another status is a change")
	}
	turned.ObservedGeneration = 3
	if diff := cmp.Diff(turned, *podstate.Condition(pod, corev1.PodReady)); diff != "" {
		t.Error(diff)
	}
	if !podstate.SetCondition(pod, corev1.PodCondition{Type: wire.KruisePodReady}) || len(pod.Status.Conditions) != 2 {
		t.Error("a new condition is added")
	}
}
