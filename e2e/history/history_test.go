package history_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/flotilla-k8s/flotilla/e2e/history"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// tape records changes a second apart.
type tape struct {
	history.Pods
	seconds int
}

func (r *tape) see(pods ...*corev1.Pod) {
	for _, p := range pods {
		r.seconds++
		p.ResourceVersion = strconv.Itoa(r.seconds)
		r.See(p, time.Unix(int64(r.seconds), 0))
	}
}

type modifier func(*corev1.Pod)

func pod(name string, modifiers ...modifier) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{wire.LabelRevision: "a"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Image: "web:v1"}}},
		Status: corev1.PodStatus{
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionTrue},
				{Type: wire.InPlaceUpdateReady, Status: corev1.ConditionTrue},
			},
			ContainerStatuses: []corev1.ContainerStatus{{ContainerID: "c1"}},
		},
	}
	for _, modify := range modifiers {
		modify(p)
	}
	return p
}

func notReady(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }

func drained(p *corev1.Pod) {
	notReady(p)
	p.Status.Conditions[1].Status = corev1.ConditionFalse
	p.Labels[wire.LabelRevision] = "b"
}

func swapped(p *corev1.Pod) { p.Spec.Containers[0].Image = "web:v2" }

func restarted(p *corev1.Pod) { p.Status.ContainerStatuses[0].ContainerID = "c2" }

func TestCleanUpdate(t *testing.T) {
	var r tape
	r.see(pod("x"), pod("y"))
	mark := r.Mark()
	r.see(pod("y", drained), pod("y", drained, swapped), pod("y", drained, swapped, restarted), pod("y", swapped, restarted))
	span := r.Since(mark)
	if n := span.MostUnavailable(2); n != 1 {
		t.Errorf("most unavailable is %d, want 1", n)
	}
	if err := span.Replaced(); err != nil {
		t.Error(err)
	}
	if err := span.SwappedUndrained(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"y"}, span.Restarted()); diff != "" {
		t.Errorf("restarted (-want +have):\n%s", diff)
	}
	want := []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue}
	if diff := cmp.Diff(want, span.Conditions("y", wire.InPlaceUpdateReady)); diff != "" {
		t.Errorf("conditions (-want +have):\n%s", diff)
	}
	if took, ok := span.DrainTime("y"); !ok || took != time.Second {
		t.Errorf("drain took %v (%v), want 1s", took, ok)
	}
	if _, ok := span.DrainTime("x"); ok {
		t.Error("a pod that was left alone has a drain time")
	}
}

func TestOrder(t *testing.T) {
	var r tape
	r.see(pod("x"), pod("y"))
	mark := r.Mark()
	r.see(pod("y", drained), pod("x", drained))
	if diff := cmp.Diff([]string{"y", "x"}, r.Since(mark).RevisionOrder()); diff != "" {
		t.Errorf("order (-want +have):\n%s", diff)
	}
}

func TestFaults(t *testing.T) {
	cases := []struct {
		name  string
		do    func(*tape)
		check func(history.Span) bool
	}{
		{"two at one time, for a moment", func(r *tape) {
			r.see(pod("x", notReady), pod("y", notReady), pod("x"))
		}, func(s history.Span) bool { return s.MostUnavailable(2) == 2 }},
		{"a pod that is being deleted is out of service", func(r *tape) {
			r.see(pod("x", func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Unix(1, 0)) }))
		}, func(s history.Span) bool { return s.MostUnavailable(2) == 1 }},
		{"swapped while ready", func(r *tape) { r.see(pod("x", swapped)) },
			func(s history.Span) bool { return s.SwappedUndrained() != nil }},
		{"swapped without the condition", func(r *tape) { r.see(pod("x", notReady), pod("x", notReady, swapped)) },
			func(s history.Span) bool { return s.SwappedUndrained() != nil }},
		{"deleted", func(r *tape) { r.Gone("x", time.Unix(9, 0)) },
			func(s history.Span) bool { return s.Replaced() != nil && s.MostUnavailable(2) == 1 }},
		{"made", func(r *tape) { r.see(pod("z")) },
			func(s history.Span) bool { return s.Replaced() != nil }},
		{"moved", func(r *tape) { r.see(pod("x", func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.9" })) },
			func(s history.Span) bool { return s.Replaced() != nil }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var r tape
			r.see(pod("x"), pod("y"))
			mark := r.Mark()
			c.do(&r)
			if !c.check(r.Since(mark)) {
				t.Error("the fault is not seen")
			}
		})
	}
}

func TestToldAgain(t *testing.T) {
	var r tape
	p := pod("x")
	r.see(p)
	r.See(p, time.Unix(9, 0))
	if r.Mark() != 1 {
		t.Errorf("a pod that is told again counts as %d changes", r.Mark())
	}
}
