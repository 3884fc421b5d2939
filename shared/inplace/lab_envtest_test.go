package inplace_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/inplace"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
	"github.com/flotilla-k8s/flotilla/shared/readiness"
	"github.com/flotilla-k8s/flotilla/shared/testenv"
)

// lab is one pod on a real API server, with an engine whose requests pass through faults and a node that
// the test lets work.
type lab struct {
	t      *testing.T
	admin  client.WithWatch
	faults *testenv.Faults
	engine *inplace.Engine
	clock  *clocktesting.FakePassiveClock
	node   *node
	key    client.ObjectKey
}

// newLab creates a ready pod of two containers, web-0 at revision web-1.
func newLab(t *testing.T, edits ...func(*corev1.Pod)) *lab {
	t.Helper()
	l := &lab{t: t, admin: server.Client(t), faults: &testenv.Faults{}, node: &node{},
		clock: clocktesting.NewFakePassiveClock(start)}
	l.engine = l.newEngine()
	pod := newPod(&corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "main", Image: "web:1"}, {Name: "side", Image: "side:1"}}}})
	pod.Namespace = server.Namespace(t)
	pod.Spec.AutomountServiceAccountToken = new(false)
	metav1.SetMetaDataLabel(&pod.ObjectMeta, "foreign", "kept")
	pod.Finalizers = []string{"foreign.example.com/kept"}
	for _, edit := range edits {
		edit(pod)
	}
	l.key = client.ObjectKeyFromObject(pod)
	if err := l.admin.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	l.nodeWorks()
	l.refresh(inplace.Idle)
	l.nodeWorks()
	l.faults.Reset()
	return l
}

// newEngine is what another process starts with: nothing but a client.
func (l *lab) newEngine() *inplace.Engine {
	return &inplace.Engine{Client: testenv.Client(l.t, l.faults.Wrap(server.Config(l.t))), Clock: l.clock}
}

// crash stands for the end of the process and the start of another.
func (l *lab) crash() {
	l.t.Helper()
	if !l.faults.Crashed() {
		l.t.Fatal("the process did not crash")
	}
	l.faults.Recover()
	l.engine = l.newEngine()
}

func (l *lab) pod() *corev1.Pod {
	l.t.Helper()
	pod := &corev1.Pod{}
	if err := l.admin.Get(l.t.Context(), l.key, pod); err != nil {
		l.t.Fatal(err)
	}
	return pod
}

// nodeWorks starts containers as the pod asks for and lets Ready follow the containers and the gates.
func (l *lab) nodeWorks() {
	l.t.Helper()
	before := l.pod()
	after := before.DeepCopy()
	l.node.run(after)
	after.Status.Phase = corev1.PodRunning
	ready := corev1.ConditionTrue
	for _, gate := range after.Spec.ReadinessGates {
		if !podstate.IsTrue(podstate.Condition(after, gate.ConditionType)) {
			ready = corev1.ConditionFalse
		}
	}
	now := metav1.NewTime(l.clock.Now())
	podstate.SetCondition(after, corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionTrue, LastTransitionTime: now})
	podstate.SetCondition(after, corev1.PodCondition{Type: corev1.PodReady, Status: ready, LastTransitionTime: now})
	if err := l.admin.Status().Patch(l.t.Context(), after, readiness.StatusPatch(before)); err != nil {
		l.t.Fatal(err)
	}
}

// edit changes the pod as somebody else would.
func (l *lab) edit(change func(*corev1.Pod)) {
	l.t.Helper()
	before := l.pod()
	after := before.DeepCopy()
	change(after)
	if err := l.admin.Patch(l.t.Context(), after, client.StrategicMergeFrom(before)); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) start(change *inplace.Change) inplace.Progress {
	l.t.Helper()
	progress, err := l.engine.Start(l.t.Context(), l.pod(), change, targetOf("web-2"))
	if err != nil {
		l.t.Fatal(err)
	}
	l.expectNewest(progress)
	return progress
}

// refresh carries out one step and checks the phase that it ends in.
func (l *lab) refresh(want inplace.Phase) inplace.Progress {
	l.t.Helper()
	return l.refreshTo("", want)
}

func (l *lab) refreshTo(state wire.LifecycleState, want inplace.Phase) inplace.Progress {
	l.t.Helper()
	progress, err := l.engine.Refresh(l.t.Context(), l.pod(), state)
	if err != nil {
		l.t.Fatal(err)
	}
	if progress.Phase != want {
		l.t.Fatalf("got phase %s, %q, want %s", progress.Phase, progress.Message, want)
	}
	l.expectNewest(progress)
	return progress
}

// expectNewest checks that the pod handed back is the one on the server.
func (l *lab) expectNewest(progress inplace.Progress) {
	l.t.Helper()
	if got, want := progress.Pod.ResourceVersion, l.pod().ResourceVersion; got != want {
		l.t.Errorf("Progress.Pod has version %s, the server %s", got, want)
	}
}

func (l *lab) expectImages(main, side string) {
	l.t.Helper()
	if diff := cmp.Diff(map[string]string{"main": main, "side": side}, images(l.pod())); diff != "" {
		l.t.Error(diff)
	}
}

// expectWrites checks what the engine sent since the last look, and forgets it.
func (l *lab) expectWrites(want map[string]int) {
	l.t.Helper()
	got := l.faults.Counts()
	if !maps.Equal(got, want) {
		l.t.Errorf("writes: got %v, want %v", got, want)
	}
	l.faults.Reset()
}

func (l *lab) expectCondition(kind corev1.PodConditionType, status corev1.ConditionStatus, reason string) {
	l.t.Helper()
	c := podstate.Condition(l.pod(), kind)
	if c == nil || c.Status != status || c.Reason != reason {
		l.t.Errorf("condition %s: got %+v, want %s, %q", kind, c, status, reason)
	}
}

// watch records every version of the pod from now on; stop returns them.
func (l *lab) watch() (stop func() []*corev1.Pod) {
	l.t.Helper()
	w, err := l.admin.Watch(l.t.Context(), &corev1.PodList{}, client.InNamespace(l.key.Namespace))
	if err != nil {
		l.t.Fatal(err)
	}
	return func() []*corev1.Pod {
		l.t.Helper()
		defer w.Stop()
		ctx, cancel := context.WithTimeout(l.t.Context(), 30*time.Second)
		defer cancel()
		last := l.pod().ResourceVersion
		var seen []*corev1.Pod
		for {
			select {
			case event := <-w.ResultChan():
				pod, ok := event.Object.(*corev1.Pod)
				if !ok {
					l.t.Fatalf("watching the pod: got %v", event)
				}
				seen = append(seen, pod)
				if pod.ResourceVersion == last {
					return seen
				}
			case <-ctx.Done():
				l.t.Fatal("the watch does not deliver the newest version of the pod")
			}
		}
	}
}
