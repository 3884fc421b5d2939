package inplace_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/inplace"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
)

func TestApplyImage(t *testing.T) {
	pod := drainedPod()
	pod.Annotations = map[string]string{wire.AnnotationLegacyInPlaceState: `{"revision":"older"}`, "note": "mine"}
	before := pod.DeepCopy()
	got := apply(t, pod, &inplace.Change{Images: map[string]string{"main": "web:2"}})

	if diff := cmp.Diff(map[string]string{"main": "web:2", "side": "side:1"}, images(got)); diff != "" {
		t.Errorf("IP-55: %s", diff)
	}
	wantLabels := map[string]string{"controller-revision-hash": "web-2", "lifecycle.apps.kruise.io/state": "Updating"}
	if diff := cmp.Diff(wantLabels, got.Labels); diff != "" {
		t.Errorf("IP-43: %s", diff)
	}
	wantAnnotations := map[string]string{
		"note":                               "mine",
		"lifecycle.apps.kruise.io/timestamp": "2026-03-01T10:00:00Z",
		"apps.kruise.io/inplace-update-state": `{"revision":"web-2","updateTimestamp":"2026-03-01T10:00:00Z",` +
			`"lastContainerStatuses":{"main":{"imageID":"sha256:of-web:1","containerID":"containerd://1"}},"updateImages":true,` +
			`"containerBatchesRecord":[{"timestamp":"2026-03-01T10:00:00Z","containers":["main"]}]}`,
	}
	if diff := cmp.Diff(wantAnnotations, got.Annotations); diff != "" {
		t.Errorf("IP-43, IP-44, IP-58: %s", diff)
	}
	if diff := cmp.Diff(before, pod); diff != "" {
		t.Errorf("the pod given was changed: %s", diff)
	}
}

func TestApplyOtherChanges(t *testing.T) {
	const empty = `{"revision":"web-2","updateTimestamp":"2026-03-01T10:00:00Z","lastContainerStatuses":null,` +
		`"containerBatchesRecord":[{"timestamp":"2026-03-01T10:00:00Z","containers":[]}]}`
	t.Run("IP-14: no difference gives a label and a state", func(t *testing.T) {
		got := apply(t, drainedPod(), &inplace.Change{})
		if diff := cmp.Diff(empty, got.Annotations[wire.AnnotationInPlaceState]); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("IP-15, IP-16: metadata is patched, foreign keys stay", func(t *testing.T) {
		pod := drainedPod()
		pod.Labels["gone"], pod.Labels["foreign"] = "x", "kept"
		pod.Finalizers = []string{"foreign/f", "template/f"}
		got := apply(t, pod, &inplace.Change{MetadataPatch: []byte(
			`{"metadata":{"labels":{"gone":null,"app":"web"},"$deleteFromPrimitiveList/finalizers":["template/f"],"finalizers":["new/f"]}}`)})
		want := map[string]string{"app": "web", "foreign": "kept", wire.LabelRevision: "web-2", wire.LabelLifecycleState: "Updating"}
		if diff := cmp.Diff(want, got.Labels); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"foreign/f", "new/f"}, slices.Sorted(slices.Values(got.Finalizers))); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(empty, got.Annotations[wire.AnnotationInPlaceState]); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("IP-55: an image that the pod has already leaves no record", func(t *testing.T) {
		got := stateOf(t, apply(t, drainedPod(), &inplace.Change{Images: map[string]string{"main": "web:1"}}))
		if got.LastContainerStatuses != nil || !got.UpdateImages {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("LC-7: no state asked for, none written", func(t *testing.T) {
		target := targetOf("web-2")
		target.State = ""
		got, err := inplace.Apply(drainedPod(), &inplace.Change{}, target, start)
		if err != nil || podstate.Lifecycle(got) != "" {
			t.Errorf("got %v, %v", got, err)
		}
	})
	t.Run("IP-72: an unreadable state is healed by a new update", func(t *testing.T) {
		pod := drainedPod()
		pod.Annotations = map[string]string{wire.AnnotationInPlaceState: "{"}
		if got := stateOf(t, apply(t, pod, &inplace.Change{})); got.Revision != "web-2" {
			t.Errorf("got %+v", got)
		}
	})
}

func TestApplyRefuses(t *testing.T) {
	image := &inplace.Change{Images: map[string]string{"main": "web:2"}}
	env := &inplace.Change{EnvFromMetadata: true}
	ungated := twoContainers()
	ungated.Spec.ReadinessGates = nil
	unset := drainedPod()
	unset.Status.Conditions = nil
	for _, c := range []struct {
		name   string
		pod    *corev1.Pod
		change *inplace.Change
	}{
		{"drain before swap: the condition is True", twoContainers(), image},
		{"drain before swap: the condition is missing", unset, image},
		{"IP-42: env of a pod without the gate", ungated, env},
		{"a container that the pod does not have", drainedPod(), &inplace.Change{Images: map[string]string{"other": "x"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := inplace.Apply(c.pod, c.change, targetOf("web-2"), start)
			if err == nil {
				t.Errorf("got %v, want an error", got)
			}
			if notInPlace := errors.Is(err, inplace.ErrNotInPlace); notInPlace != (c.change == env) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("IP-42: without the gate an image needs no draining", func(t *testing.T) {
		if got := images(apply(t, ungated, image)); got["main"] != "web:2" {
			t.Errorf("got %v", got)
		}
	})
}

func TestApplyGrace(t *testing.T) {
	pod := drainedPod()
	got := apply(t, pod, &inplace.Change{
		Images:          map[string]string{"main": "web:2"},
		RefMetadata:     map[string]metav1.ObjectMeta{"side": {Labels: map[string]string{"tier": "b"}}},
		MetadataPatch:   []byte(`{"metadata":{"labels":{"app":"shop"}}}`),
		EnvFromMetadata: true, GraceSeconds: 10,
	})
	if diff := cmp.Diff(images(pod), images(got)); diff != "" {
		t.Errorf("IP-46: %s", diff)
	}
	if got.Labels[wire.LabelRevision] != "web-2" || got.Labels["app"] != "" || got.Labels["tier"] != "" {
		t.Errorf("IP-46, IP-67: got labels %v", got.Labels)
	}
	want := `{"revision":"web-2","containerImages":{"main":"web:2"},"containerRefMetadata":{"side":{"labels":{"tier":"b"}}},` +
		`"metaDataPatch":"eyJtZXRhZGF0YSI6eyJsYWJlbHMiOnsiYXBwIjoic2hvcCJ9fX0=","updateEnvFromMetadata":true,"graceSeconds":10}`
	if diff := cmp.Diff(want, got.Annotations[wire.AnnotationInPlaceGrace]); diff != "" {
		t.Errorf("1.5: %s", diff)
	}
	state := stateOf(t, got)
	if !state.UpdateImages || !state.UpdateEnvFromMetadata || state.LastContainerStatuses != nil || state.ContainerBatchesRecord != nil {
		t.Errorf("IP-44: got %+v", state)
	}
}

func TestApplyCarriesOver(t *testing.T) {
	// An update of both containers, whose second batch, main, is still to come.
	unfinished := func() *corev1.Pod {
		pod := drainedPod()
		withPriority(pod, "side", 10)
		withPriority(pod, "main", 0)
		return apply(t, pod, &inplace.Change{
			Images:      map[string]string{"main": "web:2", "side": "side:2"},
			RefMetadata: map[string]metav1.ObjectMeta{"main": {Labels: map[string]string{"a": "2", "b": "2"}}},
		})
	}
	later := start.Add(time.Minute)
	next := func(t *testing.T, change *inplace.Change) *corev1.Pod {
		t.Helper()
		got, err := inplace.Apply(unfinished(), change, targetOf("web-3"), later)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	t.Run("P-2: what was not applied yet is not lost", func(t *testing.T) {
		got := next(t, &inplace.Change{MetadataPatch: []byte(`{"metadata":{"labels":{"b":null}}}`)})
		if got := images(got); got["main"] != "web:2" || got["side"] != "side:2" {
			t.Errorf("got %v", got)
		}
		if _, found := got.Labels["b"]; got.Labels["a"] != "2" || found {
			t.Errorf("the new change wins: got labels %v", got.Labels)
		}
		state := stateOf(t, got)
		want := map[string]wire.InPlaceContainerStatus{
			"main": {ImageID: "sha256:of-web:1", ContainerID: "containerd://1"},
			"side": {ImageID: "sha256:of-side:1", ContainerID: "containerd://2"},
		}
		if diff := cmp.Diff(want, state.LastContainerStatuses); diff != "" {
			t.Error(diff)
		}
		if state.Revision != "web-3" || !state.UpdateTimestamp.Time.Equal(later) || len(state.ContainerBatchesRecord) != 1 {
			t.Errorf("got %+v", state)
		}
	})
	t.Run("P-2: the new change wins for the same container", func(t *testing.T) {
		got := next(t, &inplace.Change{Images: map[string]string{"main": "web:1", "side": "side:1"}})
		state := stateOf(t, got)
		if len(state.NextContainerImages) != 1 || state.NextContainerImages["main"] != "web:1" {
			t.Errorf("got %+v", state)
		}
	})
	t.Run("P-2: what does not run yet is waited for", func(t *testing.T) {
		pod := apply(t, drainedPod(), &inplace.Change{Images: map[string]string{"main": "web:2", "side": "side:2"}, EnvFromMetadata: true})
		pod.Status.ContainerStatuses[1].ImageID = "sha256:of-side:2"
		got, err := inplace.Apply(pod, &inplace.Change{}, targetOf("web-3"), later)
		if err != nil {
			t.Fatal(err)
		}
		state := stateOf(t, got)
		want := map[string]wire.InPlaceContainerStatus{"main": {ImageID: "sha256:of-web:1", ContainerID: "containerd://1"}}
		if diff := cmp.Diff(want, state.LastContainerStatuses); diff != "" {
			t.Error(diff)
		}
		if !state.UpdateEnvFromMetadata || !state.UpdateImages {
			t.Errorf("got %+v", state)
		}
	})
	t.Run("a finished update leaves nothing", func(t *testing.T) {
		pod := apply(t, drainedPod(), &inplace.Change{Images: map[string]string{"main": "web:2"}})
		(&node{started: 2}).run(pod)
		got, err := inplace.Apply(pod, &inplace.Change{}, targetOf("web-3"), later)
		if err != nil {
			t.Fatal(err)
		}
		if state := stateOf(t, got); state.LastContainerStatuses != nil || state.UpdateImages {
			t.Errorf("got %+v", state)
		}
	})
}
