package inplace_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/inplace"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
)

func next(t *testing.T, pod *corev1.Pod, now time.Time) inplace.Step {
	t.Helper()
	step, err := inplace.Next(pod, now, inplace.Gates{})
	if err != nil {
		t.Fatal(err)
	}
	return step
}

// inGrace returns a pod whose update to web-2 waits for a grace period of ten seconds since start.
func inGrace(t *testing.T) *corev1.Pod {
	t.Helper()
	return apply(t, drainedPod(), &inplace.Change{Images: map[string]string{"main": "web:2"},
		MetadataPatch: []byte(`{"metadata":{"labels":{"app":"shop"}}}`), GraceSeconds: 10})
}

func TestNextInGrace(t *testing.T) {
	t.Run("IP-64: the rest is rounded up to whole seconds", func(t *testing.T) {
		for passed, want := range map[time.Duration]time.Duration{
			0: 10 * time.Second, 1200 * time.Millisecond: 9 * time.Second, 9999 * time.Millisecond: time.Second,
		} {
			step := next(t, inGrace(t), start.Add(passed))
			if step.Phase != inplace.InGrace || step.RequeueAfter != want || step.Pod != nil {
				t.Errorf("after %s: got %+v", passed, step)
			}
		}
	})
	t.Run("IP-64: at its end the recorded update is applied", func(t *testing.T) {
		step := next(t, inGrace(t), start.Add(10*time.Second))
		if step.Phase != inplace.Swapping || step.Pod == nil || step.Status {
			t.Fatalf("got %+v", step)
		}
		if images(step.Pod)["main"] != "web:2" || step.Pod.Labels["app"] != "shop" {
			t.Errorf("got images %v, labels %v", images(step.Pod), step.Pod.Labels)
		}
		if _, found := step.Pod.Annotations[wire.AnnotationInPlaceGrace]; found {
			t.Error("the grace annotation stays")
		}
		state := stateOf(t, step.Pod)
		if len(state.LastContainerStatuses) != 1 || len(state.ContainerBatchesRecord) != 1 || !state.UpdateTimestamp.Time.Equal(start) {
			t.Errorf("got %+v", state)
		}
	})
	t.Run("IP-64: under the legacy keys too", func(t *testing.T) {
		pod := inGrace(t)
		pod.Annotations = map[string]string{
			wire.AnnotationLegacyInPlaceState: pod.Annotations[wire.AnnotationInPlaceState],
			wire.AnnotationLegacyInPlaceGrace: pod.Annotations[wire.AnnotationInPlaceGrace],
		}
		step := next(t, pod, start.Add(time.Minute))
		for key := range step.Pod.Annotations {
			if strings.HasPrefix(key, "inplace-") {
				t.Errorf("annotation %s stays", key)
			}
		}
	})
	t.Run("IP-64: another revision label drops the record", func(t *testing.T) {
		pod := inGrace(t)
		pod.Labels[wire.LabelRevision] = "web-3"
		step := next(t, pod, start)
		if _, found := step.Pod.Annotations[wire.AnnotationInPlaceGrace]; found || images(step.Pod)["main"] != "web:1" {
			t.Errorf("got %+v", step)
		}
	})
	t.Run("RV-12: the short hash is the same revision", func(t *testing.T) {
		pod := inGrace(t)
		pod.Labels[wire.LabelRevision] = "2"
		if step := next(t, pod, start); step.Phase != inplace.InGrace {
			t.Errorf("got %+v", step)
		}
	})
	t.Run("IP-62: a pod that became ready meanwhile is drained for the whole period again", func(t *testing.T) {
		pod := inGrace(t)
		podstate.Condition(pod, wire.InPlaceUpdateReady).Status = corev1.ConditionTrue
		step := next(t, pod, start.Add(11*time.Second))
		if step.Phase != inplace.Draining || !step.Status || images(step.Pod)["main"] != "web:1" {
			t.Fatalf("got %+v", step)
		}
		if again := next(t, step.Pod, start.Add(13*time.Second)); again.RequeueAfter != 9*time.Second {
			t.Errorf("got %+v; the time on the wire may be a second too early", again)
		}
	})
	t.Run("IP-62: nor is one swapped that the kubelet has put back into service for a moment", func(t *testing.T) {
		pod := inGrace(t)
		pod.Status.Conditions = append(pod.Status.Conditions,
			corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
			corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
		step := next(t, pod, start.Add(11*time.Second))
		if step.Phase != inplace.Draining || !step.Status || podstate.IsTrue(podstate.Condition(step.Pod, corev1.PodReady)) {
			t.Fatalf("got %+v", step)
		}
		if again := next(t, step.Pod, start.Add(13*time.Second)); again.Phase != inplace.InGrace || again.RequeueAfter != 9*time.Second {
			t.Errorf("got %+v", again)
		}
		podstate.Condition(pod, corev1.ContainersReady).Status = corev1.ConditionFalse
		if left := next(t, pod, start.Add(11*time.Second)); left.Phase != inplace.Draining || left.Pod != nil {
			t.Errorf("got %+v; Ready is left to the kubelet, and nothing is written", left)
		}
	})
	t.Run("IP-62: a period that begins within a second is not shorter for it", func(t *testing.T) {
		begin := start.Add(900 * time.Millisecond)
		pod, err := inplace.Apply(drainedPod(), &inplace.Change{Images: map[string]string{"main": "web:2"}, GraceSeconds: 10}, targetOf("web-2"), begin)
		if err != nil {
			t.Fatal(err)
		}
		// What comes back from the API server has whole seconds.
		if step := next(t, pod, begin.Add(9999*time.Millisecond)); step.Phase != inplace.InGrace {
			t.Errorf("got %+v after less than ten seconds", step)
		}
	})
	t.Run("IP-65: the recorded length counts, and a state must be there", func(t *testing.T) {
		pod := inGrace(t)
		for _, broken := range []string{"", "{"} {
			pod.Annotations[wire.AnnotationInPlaceState] = broken
			if step, err := inplace.Next(pod, start, inplace.Gates{}); err == nil {
				t.Errorf("state %q: got %+v", broken, step)
			}
		}
	})
	t.Run("never half applied: resources in a record are an error", func(t *testing.T) {
		pod := inGrace(t)
		pod.Annotations[wire.AnnotationInPlaceGrace] = `{"revision":"web-2","containerImages":{"main":"web:2"},"containerResources":{"main":{}}}`
		if step, err := inplace.Next(pod, start.Add(time.Hour), inplace.Gates{}); err == nil {
			t.Errorf("got %+v", step)
		}
	})
}

func TestNextLetsPodsBeReady(t *testing.T) {
	deleted := twoContainers()
	deleted.DeletionTimestamp = &metav1.Time{Time: start}
	deleted.Status.Conditions = nil
	ungated := twoContainers()
	ungated.Spec.ReadinessGates, ungated.Status.Conditions = nil, nil
	fresh := twoContainers()
	fresh.Status.Conditions = nil
	shared := twoContainers()
	shared.Spec.ReadinessGates = append(shared.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: wire.KruisePodReady})
	worded := twoContainers()
	worded.Status.Conditions[0].Reason = "x"
	finished := updated(t, "web:2")
	(&node{started: 2}).run(finished)
	for _, c := range []struct {
		name  string
		pod   *corev1.Pod
		phase inplace.Phase
		want  []corev1.PodConditionType // conditions that become plain True; nil if nothing is written
	}{
		{"IP-69: a new pod", fresh, inplace.Idle, []corev1.PodConditionType{wire.InPlaceUpdateReady}},
		{"IP-91: a new pod with both gates, in one write", shared, inplace.Idle, []corev1.PodConditionType{wire.InPlaceUpdateReady, wire.KruisePodReady}},
		{"IP-68: a reason beside True is cleared", worded, inplace.Idle, []corev1.PodConditionType{wire.InPlaceUpdateReady}},
		{"IP-68: a completed update", finished, inplace.PhaseCompleted, []corev1.PodConditionType{wire.InPlaceUpdateReady}},
		{"IP-68: nothing to do", twoContainers(), inplace.Idle, nil},
		{"IP-68: a pod without the gate", ungated, inplace.Idle, nil},
		{"a pod that is being deleted", deleted, inplace.Idle, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			step := next(t, c.pod, start)
			if step.Phase != c.phase || (step.Pod != nil) != (c.want != nil) || step.Status != (c.want != nil) {
				t.Fatalf("got %+v", step)
			}
			for _, kind := range c.want {
				condition := podstate.Condition(step.Pod, kind)
				if !podstate.IsTrue(condition) || condition.Reason != "" || condition.Message != "" {
					t.Errorf("got %+v", condition)
				}
			}
		})
	}
}

func TestNextFails(t *testing.T) {
	for _, c := range []struct {
		name string
		pod  *corev1.Pod
	}{
		{"IP-68: an unreadable state", with(twoContainers(), annotation(wire.AnnotationInPlaceState, "{"))},
		{"IP-65: an unreadable grace", with(twoContainers(), annotation(wire.AnnotationInPlaceGrace, "{"))},
		{"IP-73: an unreadable meta", with(updated(t, "web:2"), annotation(wire.AnnotationRuntimeContainersMeta, "{"))},
		{"never half applied: resources in a later batch", with(twoContainers(), annotation(wire.AnnotationInPlaceState,
			`{"revision":"web-1","nextContainerResources":{"main":{}}}`))},
	} {
		t.Run(c.name, func(t *testing.T) {
			if step, err := inplace.Next(c.pod, start, inplace.Gates{}); err == nil {
				t.Errorf("got %+v", step)
			}
			view := (&inplace.Engine{}).Look(c.pod, start)
			if !view.Due || view.Completed || view.Waiting == "" {
				t.Errorf("IP-72: got %+v", view)
			}
		})
	}
}

func TestLook(t *testing.T) {
	finished := updated(t, "web:2")
	(&node{started: 2}).run(finished)
	deleted := twoContainers()
	deleted.DeletionTimestamp = &metav1.Time{Time: start}
	relabelled := inGrace(t)
	relabelled.Labels[wire.LabelRevision] = "web-3"
	for _, c := range []struct {
		name string
		pod  *corev1.Pod
		want inplace.View
	}{
		{"never updated", twoContainers(), inplace.View{Completed: true}},
		{"completed, not yet ready", finished, inplace.View{Completed: true, Due: true}},
		{"in grace", inGrace(t), inplace.View{InGrace: true, Waiting: "the end of the grace period", RequeueAfter: 9 * time.Second}},
		{"in grace, and at another revision", relabelled, inplace.View{InGrace: true, Due: true, Waiting: "the grace period was ended by another revision"}},
		{"waiting", updated(t, "web:2"), inplace.View{Waiting: "container main runs image web:1, wants web:2"}},
		{"being deleted", deleted, inplace.View{Waiting: "the pod is being deleted"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, (&inplace.Engine{}).Look(c.pod, start.Add(time.Second))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
