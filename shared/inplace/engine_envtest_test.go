package inplace_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/inplace"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
	"github.com/flotilla-k8s/flotilla/shared/testenv"
)

var swapMain = &inplace.Change{
	Images:        map[string]string{"main": "web:2"},
	MetadataPatch: []byte(`{"metadata":{"labels":{"app":"shop"}}}`),
}

func TestEngineUpdatesAnImage(t *testing.T) {
	l := newLab(t)
	stop := l.watch()
	uid := l.pod().UID

	if progress := l.start(swapMain); progress.Phase != inplace.Swapping || !progress.Wrote {
		t.Errorf("got %+v", progress)
	}
	l.expectWrites(map[string]int{"patch pods/status": 1, "patch pods": 1})
	l.expectImages("web:2", "side:1")
	l.expectCondition(wire.InPlaceUpdateReady, corev1.ConditionFalse, "StartInPlaceUpdate")
	l.expectCondition(corev1.PodReady, corev1.ConditionFalse, "ReadinessGatesNotReady")

	progress := l.refresh(inplace.WaitingForContainers)
	if want := "container main runs image web:1, wants web:2"; progress.Message != want || progress.Wrote {
		t.Errorf("got %+v", progress)
	}
	l.nodeWorks()
	l.refreshTo(wire.LifecycleNormal, inplace.PhaseCompleted)
	l.expectWrites(map[string]int{"patch pods/status": 1})
	l.expectCondition(wire.InPlaceUpdateReady, corev1.ConditionTrue, "")

	pod := l.pod()
	want := map[string]string{"foreign": "kept", "app": "shop", wire.LabelRevision: "web-2", wire.LabelLifecycleState: "Normal"}
	if diff := cmp.Diff(want, pod.Labels); diff != "" {
		t.Errorf("IP-16, LC-10: %s", diff)
	}
	if pod.UID != uid || len(pod.Finalizers) != 1 {
		t.Errorf("the pod is not the same: %v", pod.ObjectMeta)
	}
	l.nodeWorks()
	if progress := l.refresh(inplace.PhaseCompleted); progress.Wrote {
		t.Error("a write that changes nothing was sent")
	}
	expectDrainBeforeSwap(t, stop())
}

// expectDrainBeforeSwap checks every version that the API server had: images change only from one with
// the condition False to another.
func expectDrainBeforeSwap(t *testing.T, versions []*corev1.Pod) {
	t.Helper()
	swaps := 0
	for i := 1; i < len(versions); i++ {
		before, after := versions[i-1], versions[i]
		if maps.Equal(images(before), images(after)) {
			continue
		}
		swaps++
		for _, pod := range []*corev1.Pod{before, after} {
			if c := podstate.Condition(pod, wire.InPlaceUpdateReady); c == nil || c.Status != corev1.ConditionFalse {
				t.Errorf("drain before swap: images change to %v while the condition is %+v", images(after), c)
			}
		}
	}
	if swaps == 0 {
		t.Error("no version with other images was seen")
	}
}

func TestEngineGracePeriod(t *testing.T) {
	l := newLab(t)
	stop := l.watch()
	change := *swapMain
	change.GraceSeconds = 10
	if progress := l.start(&change); progress.Phase != inplace.InGrace || progress.RequeueAfter != 10*time.Second {
		t.Errorf("got %+v", progress)
	}
	l.expectImages("web:1", "side:1")
	l.expectCondition(wire.InPlaceUpdateReady, corev1.ConditionFalse, "StartInPlaceUpdate")

	l.clock.SetTime(start.Add(4 * time.Second))
	if progress := l.refresh(inplace.InGrace); progress.RequeueAfter != 6*time.Second {
		t.Errorf("IP-64: got %+v", progress)
	}
	if progress := l.start(&inplace.Change{Images: map[string]string{"main": "web:3"}}); progress.Phase != inplace.InGrace || progress.Wrote {
		t.Errorf("IP-50: an update started in the grace period of another: %+v", progress)
	}
	l.expectWrites(map[string]int{"patch pods/status": 1, "patch pods": 1})

	l.clock.SetTime(start.Add(10 * time.Second))
	l.refresh(inplace.Swapping)
	l.expectImages("web:2", "side:1")
	l.nodeWorks()
	l.refresh(inplace.PhaseCompleted)
	l.expectWrites(map[string]int{"patch pods/status": 1, "patch pods": 1})
	expectDrainBeforeSwap(t, stop())
}

func TestEngineBatches(t *testing.T) {
	l := newLab(t, func(pod *corev1.Pod) {
		withPriority(pod, "main", 0)
		withPriority(pod, "side", 10)
		for i := range pod.Spec.Containers {
			pod.Spec.Containers[i].Env[0].ValueFrom.ConfigMapKeyRef.Name = "web-0-barrier"
		}
	})
	stop := l.watch()
	l.start(&inplace.Change{Images: map[string]string{"main": "web:2", "side": "side:2"}})
	l.expectImages("web:1", "side:2")
	l.refresh(inplace.WaitingForContainers)
	l.nodeWorks()
	l.refresh(inplace.Swapping)
	l.expectImages("web:2", "side:2")
	l.refresh(inplace.WaitingForContainers)
	l.nodeWorks()
	l.refresh(inplace.PhaseCompleted)
	l.expectWrites(map[string]int{"patch pods/status": 2, "patch pods": 2})
	expectDrainBeforeSwap(t, stop())
}

func TestEngineSurvivesCrashes(t *testing.T) {
	status := func(w testenv.Write) bool { return w.What() == "patch pods/status" }
	main := func(w testenv.Write) bool { return w.What() == "patch pods" }
	for _, c := range []struct {
		name  string
		fault testenv.Fault
		// started: the pod carries the new label after the crash.
		started bool
	}{
		{"before write 1", testenv.Fault{Match: status, Crash: true}, false},
		{"after write 1, whose answer is lost", testenv.Fault{Match: status, After: true, Crash: true}, false},
		{"between write 1 and write 2", testenv.Fault{Match: main, Crash: true}, false},
		{"after write 2, whose answer is lost", testenv.Fault{Match: main, After: true, Crash: true}, true},
	} {
		for _, grace := range []int32{0, 3} {
			t.Run(c.name, func(t *testing.T) {
				l := newLab(t)
				stop := l.watch()
				change := *swapMain
				change.GraceSeconds = grace
				l.faults.Inject(c.fault)
				if _, err := l.engine.Start(t.Context(), l.pod(), &change, targetOf("web-2")); err == nil {
					t.Fatal("want the error of a crash")
				}
				l.crash()
				if started := l.pod().Labels[wire.LabelRevision] == "web-2"; started != c.started {
					t.Fatalf("got label %s", l.pod().Labels[wire.LabelRevision])
				}
				if !c.started {
					l.start(&change)
				}
				if grace > 0 {
					l.refresh(inplace.InGrace)
					l.expectImages("web:1", "side:1")
					l.clock.SetTime(start.Add(time.Duration(grace) * time.Second))
					l.refresh(inplace.Swapping)
				}
				l.nodeWorks()
				l.refreshTo(wire.LifecycleNormal, inplace.PhaseCompleted)
				l.expectImages("web:2", "side:1")
				l.expectCondition(wire.InPlaceUpdateReady, corev1.ConditionTrue, "")
				expectDrainBeforeSwap(t, stop())
			})
		}
	}
}

func TestEngineSurvivesCrashesOfRefresh(t *testing.T) {
	for _, after := range []bool{false, true} {
		l := newLab(t)
		l.start(swapMain)
		l.nodeWorks()
		l.faults.Inject(testenv.Fault{After: after, Crash: true})
		if _, err := l.engine.Refresh(t.Context(), l.pod(), wire.LifecycleNormal); err == nil {
			t.Fatal("want the error of a crash")
		}
		l.crash()
		l.refreshTo(wire.LifecycleNormal, inplace.PhaseCompleted)
		l.expectCondition(wire.InPlaceUpdateReady, corev1.ConditionTrue, "")
		if got := podstate.Lifecycle(l.pod()); got != wire.LifecycleNormal {
			t.Errorf("got state %s", got)
		}
	}
}

func TestEngineWritesNothingStale(t *testing.T) {
	touch := func(pod *corev1.Pod) { metav1.SetMetaDataAnnotation(&pod.ObjectMeta, "touched", "yes") }
	expectConflict := func(t *testing.T, err error) {
		t.Helper()
		if !apierrors.IsConflict(err) {
			t.Errorf("want a conflict, got %v", err)
		}
	}
	t.Run("write 1 on a stale pod", func(t *testing.T) {
		l := newLab(t)
		stale := l.pod()
		l.edit(touch)
		progress, err := l.engine.Start(t.Context(), stale, swapMain, targetOf("web-2"))
		expectConflict(t, err)
		if progress.Wrote {
			t.Errorf("got %+v", progress)
		}
		l.expectCondition(wire.InPlaceUpdateReady, corev1.ConditionTrue, "")
		l.expectImages("web:1", "side:1")
	})
	t.Run("write 2 after somebody else's write", func(t *testing.T) {
		l := newLab(t)
		l.engine.Client = interceptor.NewClient(l.admin, interceptor.Funcs{
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
				err := c.SubResource(sub).Patch(ctx, obj, patch, opts...)
				other := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: obj.GetName(), Namespace: obj.GetNamespace()}}
				write := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"touched":"yes"}}}`))
				return errors.Join(err, c.Patch(ctx, other, write))
			},
		})
		progress, err := l.engine.Start(t.Context(), l.pod(), swapMain, targetOf("web-2"))
		expectConflict(t, err)
		if !progress.Wrote {
			t.Errorf("write 1 is not reported: %+v", progress)
		}
		l.expectImages("web:1", "side:1")
		if got := l.pod().Labels[wire.LabelRevision]; got != "web-1" {
			t.Errorf("got label %s", got)
		}
		l.engine = l.newEngine()
		l.start(swapMain)
		l.expectImages("web:2", "side:1")
	})
	t.Run("a pod without the gate", func(t *testing.T) {
		l := newLab(t, func(pod *corev1.Pod) { pod.Spec.ReadinessGates = nil })
		stale := l.pod()
		l.edit(touch)
		_, err := l.engine.Start(t.Context(), stale, swapMain, targetOf("web-2"))
		expectConflict(t, err)
		l.expectImages("web:1", "side:1")
		l.faults.Reset()
		l.start(swapMain)
		l.nodeWorks()
		l.refreshTo(wire.LifecycleNormal, inplace.PhaseCompleted)
		l.expectWrites(map[string]int{"patch pods": 2})
	})
	t.Run("IP-68: the condition back to True", func(t *testing.T) {
		l := newLab(t)
		l.start(swapMain)
		l.nodeWorks()
		stale := l.pod()
		l.edit(touch)
		_, err := l.engine.Refresh(t.Context(), stale, "")
		expectConflict(t, err)
		l.expectCondition(wire.InPlaceUpdateReady, corev1.ConditionFalse, "StartInPlaceUpdate")
	})
	t.Run("the end of a grace period", func(t *testing.T) {
		l := newLab(t)
		change := *swapMain
		change.GraceSeconds = 1
		l.start(&change)
		stale := l.pod()
		l.edit(touch)
		l.clock.SetTime(start.Add(time.Second))
		_, err := l.engine.Refresh(t.Context(), stale, "")
		expectConflict(t, err)
		l.expectImages("web:1", "side:1")
	})
}

func TestEngineReadsBack(t *testing.T) {
	l := newLab(t)
	l.engine.Client = interceptor.NewClient(l.admin, interceptor.Funcs{
		// The server answers, but without the condition, as if a webhook had taken it out.
		SubResourcePatch: func(ctx context.Context, c client.Client, _ string, obj client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
			return c.Get(ctx, client.ObjectKeyFromObject(obj), obj)
		},
	})
	if _, err := l.engine.Start(t.Context(), l.pod(), swapMain, targetOf("web-2")); err == nil || !strings.Contains(err.Error(), "InPlaceUpdateReady is not False") {
		t.Errorf("IP-40: got %v", err)
	}
	l.expectImages("web:1", "side:1")
}

func TestEngineAlwaysWritesTheCondition(t *testing.T) {
	l := newLab(t)
	l.start(swapMain)
	l.faults.Reset()
	// Another update while the pod is not ready already, and cached as such.
	progress, err := l.engine.Start(t.Context(), l.pod(), &inplace.Change{Images: map[string]string{"main": "web:3"}}, targetOf("web-3"))
	if err != nil {
		t.Fatal(err)
	}
	l.expectNewest(progress)
	l.expectWrites(map[string]int{"patch pods/status": 1, "patch pods": 1})
	l.expectImages("web:3", "side:1")
}

func TestEngineLeavesSomePodsAlone(t *testing.T) {
	t.Run("a pod that is being deleted", func(t *testing.T) {
		l := newLab(t)
		if err := l.admin.Delete(t.Context(), l.pod()); err != nil {
			t.Fatal(err)
		}
		if progress := l.start(swapMain); progress.Wrote || progress.Message == "" {
			t.Errorf("got %+v", progress)
		}
		l.expectWrites(map[string]int{})
	})
	t.Run("IP-42: env of a pod without the gate", func(t *testing.T) {
		l := newLab(t, func(pod *corev1.Pod) { pod.Spec.ReadinessGates = nil })
		_, err := l.engine.Start(t.Context(), l.pod(), &inplace.Change{EnvFromMetadata: true}, targetOf("web-2"))
		if !errors.Is(err, inplace.ErrNotInPlace) {
			t.Errorf("got %v", err)
		}
		l.expectWrites(map[string]int{})
	})
	t.Run("IP-65: a pod whose grace cannot be read", func(t *testing.T) {
		l := newLab(t)
		l.edit(annotation(wire.AnnotationInPlaceGrace, "{"))
		if _, err := l.engine.Start(t.Context(), l.pod(), swapMain, targetOf("web-2")); err == nil {
			t.Error("want an error")
		}
		if _, err := l.engine.Refresh(t.Context(), l.pod(), ""); err == nil {
			t.Error("want an error")
		}
		l.expectWrites(map[string]int{})
	})
}
