package readiness_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
	"github.com/flotilla-k8s/flotilla/shared/readiness"
)

var (
	now  = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	then = metav1.NewTime(now.Add(-time.Hour))
)

const (
	yes = corev1.ConditionTrue
	no  = corev1.ConditionFalse
)

// gatedPod has the two readiness gates and the conditions given, all since an hour.
func gatedPod(conditions ...corev1.PodCondition) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0", ResourceVersion: "7"}}
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{
		{ConditionType: wire.InPlaceUpdateReady}, {ConditionType: wire.KruisePodReady}}
	for _, c := range conditions {
		c.LastTransitionTime = then
		pod.Status.Conditions = append(pod.Status.Conditions, c)
	}
	return pod
}

func is(kind corev1.PodConditionType, status corev1.ConditionStatus) corev1.PodCondition {
	return corev1.PodCondition{Type: kind, Status: status}
}

func ready() *corev1.Pod {
	return gatedPod(is(wire.InPlaceUpdateReady, yes), is(wire.KruisePodReady, yes), is(corev1.ContainersReady, yes), is(corev1.PodReady, yes))
}

func TestBeginInPlace(t *testing.T) {
	pod := ready()
	if !readiness.BeginInPlace(pod, now) {
		t.Error("want a change")
	}
	want := []corev1.PodCondition{
		{Type: wire.InPlaceUpdateReady, Status: no, Reason: "StartInPlaceUpdate", LastTransitionTime: metav1.NewTime(now)},
		{Type: wire.KruisePodReady, Status: yes, LastTransitionTime: then},
		{Type: corev1.ContainersReady, Status: yes, LastTransitionTime: then},
		{Type: corev1.PodReady, Status: no, Reason: "ReadinessGatesNotReady", LastTransitionTime: metav1.NewTime(now),
			Message: `the status of pod readiness gate "InPlaceUpdateReady" is not "True", but False`},
	}
	if diff := cmp.Diff(want, pod.Status.Conditions); diff != "" {
		t.Errorf("IP-40, IP-41, P-15: %s", diff)
	}
	if readiness.BeginInPlace(pod, now.Add(time.Hour)) {
		t.Error("IP-41: a condition is replaced only if its status changes")
	}
}

func TestRecomputedReady(t *testing.T) {
	for _, c := range []struct {
		name    string
		pod     *corev1.Pod
		status  corev1.ConditionStatus
		message string
	}{
		{"IP-41: a missing condition is not ready either",
			gatedPod(is(corev1.ContainersReady, yes), is(corev1.PodReady, yes)), no,
			`the status of pod readiness gate "InPlaceUpdateReady" is not "True", but False, ` +
				`corresponding condition of pod readiness gate "KruisePodReady" does not exist.`},
		{"IP-41: containers that are not ready leave Ready to the kubelet",
			gatedPod(is(corev1.ContainersReady, no), is(corev1.PodReady, yes)), yes, ""},
		{"IP-41: unknown containers too", gatedPod(is(corev1.PodReady, yes)), yes, ""},
		{"IP-41: a pod that is not Ready keeps its message",
			gatedPod(is(corev1.ContainersReady, yes), corev1.PodCondition{Type: corev1.PodReady, Status: no, Message: "old"}), no, "old"},
	} {
		t.Run(c.name, func(t *testing.T) {
			readiness.BeginInPlace(c.pod, now)
			got := podstate.Condition(c.pod, corev1.PodReady)
			if got.Status != c.status || got.Message != c.message {
				t.Errorf("got %s, %q", got.Status, got.Message)
			}
		})
	}
	t.Run("IP-41: without a Ready condition none is made", func(t *testing.T) {
		pod := gatedPod(is(corev1.ContainersReady, yes))
		readiness.BeginInPlace(pod, now)
		if got := podstate.Condition(pod, corev1.PodReady); got != nil {
			t.Errorf("got %v", got)
		}
	})
}

func TestEndInPlace(t *testing.T) {
	for _, c := range []struct {
		name    string
		pod     *corev1.Pod
		changed bool
		since   metav1.Time
	}{
		{"IP-69: a new pod gets the condition", gatedPod(), true, metav1.NewTime(now)},
		{"IP-68: False turns True", gatedPod(corev1.PodCondition{Type: wire.InPlaceUpdateReady, Status: no, Reason: "StartInPlaceUpdate"}), true, metav1.NewTime(now)},
		{"IP-68: a reason beside True is cleared once", gatedPod(corev1.PodCondition{Type: wire.InPlaceUpdateReady, Status: yes, Reason: "x", Message: "y"}), true, then},
		{"IP-68: True without reason stays", gatedPod(is(wire.InPlaceUpdateReady, yes)), false, then},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := readiness.EndInPlace(c.pod, now); got != c.changed {
				t.Errorf("changed: got %v", got)
			}
			want := corev1.PodCondition{Type: wire.InPlaceUpdateReady, Status: yes, LastTransitionTime: c.since}
			if diff := cmp.Diff(want, *podstate.Condition(c.pod, wire.InPlaceUpdateReady)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStatusPatch(t *testing.T) {
	t.Run("IP-68: removed words are sent as null", func(t *testing.T) {
		before := gatedPod(corev1.PodCondition{Type: wire.InPlaceUpdateReady, Status: no, Reason: "StartInPlaceUpdate"}, is(corev1.PodReady, no))
		after := before.DeepCopy()
		readiness.EndInPlace(after, now)
		got, err := readiness.StatusPatch(before).Data(after)
		if err != nil {
			t.Fatal(err)
		}
		const want = `{"metadata":{"resourceVersion":"7"},"status":{"$setElementOrder/conditions":[{"type":"InPlaceUpdateReady"},{"type":"Ready"}],` +
			`"conditions":[{"lastTransitionTime":"2026-03-01T10:00:00Z","reason":null,"status":"True","type":"InPlaceUpdateReady"}]}}`
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Error(diff)
		}
	})
}

func keysOf(t interface{ Fatal(...any) }, pod *corev1.Pod) []wire.ReadinessKey {
	keys, err := wire.ParseReadinessKeys(podstate.Condition(pod, wire.KruisePodReady).Message)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestAddKey(t *testing.T) {
	t.Run("P-13: without the condition it is made False", func(t *testing.T) {
		pod := gatedPod(is(corev1.ContainersReady, yes), is(corev1.PodReady, yes), is(wire.InPlaceUpdateReady, yes))
		changed, err := readiness.AddKey(pod, wire.ReadinessKeyPreDelete, now)
		if err != nil || !changed {
			t.Fatalf("got %v, %v", changed, err)
		}
		want := corev1.PodCondition{Type: wire.KruisePodReady, Status: no, LastTransitionTime: metav1.NewTime(now),
			Message: `[{"userAgent":"Lifecycle","key":"preDeleteHook"}]`}
		if diff := cmp.Diff(want, *podstate.Condition(pod, wire.KruisePodReady)); diff != "" {
			t.Error(diff)
		}
		if podstate.IsTrue(podstate.Condition(pod, corev1.PodReady)) {
			t.Error("IP-93: Ready is recomputed")
		}
		if again, err := readiness.AddKey(pod, wire.ReadinessKeyPreDelete, now); again || err != nil {
			t.Errorf("IP-93: a key that is there is written again: %v, %v", again, err)
		}
	})
	t.Run("IP-93: a pod without the gate is left alone", func(t *testing.T) {
		pod := &corev1.Pod{}
		if changed, err := readiness.AddKey(pod, wire.ReadinessKeyPreDelete, now); changed || err != nil || len(pod.Status.Conditions) > 0 {
			t.Errorf("got %v, %v, %v", changed, err, pod.Status.Conditions)
		}
	})
	t.Run("IP-92: an unreadable message is not overwritten", func(t *testing.T) {
		pod := gatedPod(corev1.PodCondition{Type: wire.KruisePodReady, Status: no, Message: "{"})
		if changed, err := readiness.AddKey(pod, wire.ReadinessKeyPreDelete, now); changed || err == nil {
			t.Errorf("got %v, %v", changed, err)
		}
		if changed, err := readiness.RemoveKey(pod, wire.ReadinessKeyPreDelete, now); changed || err == nil {
			t.Errorf("got %v, %v", changed, err)
		}
	})
}

func TestInitialize(t *testing.T) {
	pod := gatedPod()
	if !readiness.Initialize(pod, now) || !podstate.IsTrue(podstate.Condition(pod, wire.KruisePodReady)) {
		t.Error("IP-91: a pod with the gate and no condition gets it")
	}
	if readiness.Initialize(pod, now) || readiness.Initialize(&corev1.Pod{}, now) {
		t.Error("IP-91: only once, and only with the gate")
	}
	held := gatedPod(is(wire.KruisePodReady, no))
	if readiness.Initialize(held, now) {
		t.Error("IP-91: a condition that is there stays")
	}
}

// However keys come and go, the pod is held exactly while there is one.
func TestKeysProperty(t *testing.T) {
	all := []wire.ReadinessKey{wire.ReadinessKeyPreDelete, wire.ReadinessKeyPreUpdate, {UserAgent: "ContainerRecreateRequest", Key: "ns/crr"}}
	rapid.Check(t, func(t *rapid.T) {
		pod := ready()
		model := map[wire.ReadinessKey]bool{}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			key := rapid.SampledFrom(all).Draw(t, "key")
			add := rapid.Bool().Draw(t, "add")
			change := readiness.RemoveKey
			if add {
				change = readiness.AddKey
			}
			changed, err := change(pod, key, now)
			if err != nil {
				t.Fatal(err)
			}
			if changed != (model[key] != add) {
				t.Fatalf("IP-93, IP-94: changed %v though held %v, add %v", changed, model[key], add)
			}
			model[key] = add
			if !add {
				delete(model, key)
			}
			if got := keysOf(t, pod); len(got) != len(model) {
				t.Fatalf("IP-92: got %v, want %v", got, model)
			}
			if held := !podstate.IsTrue(podstate.Condition(pod, wire.KruisePodReady)); held != (len(model) > 0) {
				t.Fatalf("IP-94: held %v with %v", held, model)
			}
		}
		if message := podstate.Condition(pod, wire.KruisePodReady).Message; len(model) == 0 && message != "[]" && message != "" {
			t.Fatalf("IP-94: got %q", message)
		}
	})
}
