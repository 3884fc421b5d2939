package meta

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/flotilla-k8s/flotilla/shared/testenv"
)

func duePod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1beta1", Controller: new(true)}},
		},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "c", ContainerID: "containerd://1"}}},
	}
}

func TestQueue(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Unix(0, 0))
	queue := newQueue(clk)("test", limiter(0))
	t.Cleanup(queue.ShutDown)
	events := enqueuer(true)

	events.Create(t.Context(), event.CreateEvent{Object: duePod("old"), IsInInitialList: true}, queue)
	events.Create(t.Context(), event.CreateEvent{Object: duePod("new")}, queue)
	idle := duePod("idle")
	idle.OwnerReferences = nil
	events.Update(t.Context(), event.UpdateEvent{ObjectOld: idle, ObjectNew: idle}, queue)
	for range 3 {
		events.Update(t.Context(), event.UpdateEvent{ObjectOld: duePod("changed"), ObjectNew: duePod("changed")}, queue)
	}
	events.Delete(t.Context(), event.DeleteEvent{Object: duePod("deleted")}, queue)

	testenv.Until(t, time.Minute, func(context.Context) string {
		if clk.HasWaiters() {
			return ""
		}
		return "the queue does not wait"
	})
	clk.Step(debounce - time.Millisecond)
	if queue.Len() != 0 {
		t.Fatal("IP-83: queued before the debounce has passed")
	}
	testenv.Until(t, time.Minute, func(context.Context) string {
		clk.Step(time.Millisecond)
		if queue.Len() == 2 {
			return ""
		}
		return "not queued"
	})
	got := map[types.NamespacedName]bool{}
	for queue.Len() > 0 {
		item, _ := queue.Get()
		got[item.NamespacedName] = true
		queue.Done(item)
	}
	for _, name := range []string{"new", "changed"} {
		if !got[types.NamespacedName{Namespace: "ns", Name: name}] {
			t.Errorf("pod %s was not queued, but %v", name, got)
		}
	}
}

func TestLimiter(t *testing.T) {
	request := reconcile.Request{}
	for random, last := range map[float64]time.Duration{0: 50 * time.Second, 1: 55 * time.Second} {
		limit := limiter(random)
		if got := limit.When(request); got != 500*time.Millisecond {
			t.Errorf("IP-83: first retry after %s", got)
		}
		if got := limit.When(request); got != time.Second {
			t.Errorf("IP-83: second retry after %s", got)
		}
		for range 10 {
			limit.When(request)
		}
		if got := limit.When(request); got != last {
			t.Errorf("IP-83: later retries after %s, want %s", got, last)
		}
	}
}
