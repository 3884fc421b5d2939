package inplace_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/inplace"
)

// withPriority gives a container the barrier env that the webhook injects.
func withPriority(pod *corev1.Pod, name string, priority int) {
	barrier(pod, name, fmt.Sprintf("p_%d", priority))
}

func barrier(pod *corev1.Pod, name, key string) {
	for i := range pod.Spec.Containers {
		if c := &pod.Spec.Containers[i]; c.Name == name {
			c.Env = append(c.Env, corev1.EnvVar{Name: wire.EnvContainerBarrier, ValueFrom: &corev1.EnvVarSource{
				ConfigMapKeyRef: &corev1.ConfigMapKeySelector{Key: key}}})
		}
	}
}

// podOf returns a drained pod with containers of the given names.
func podOf(names ...string) *corev1.Pod {
	template := &corev1.PodTemplateSpec{}
	for _, name := range names {
		template.Spec.Containers = append(template.Spec.Containers, corev1.Container{Name: name, Image: name + ":1"})
	}
	pod := newPod(template)
	(&node{}).run(pod)
	pod.Status.Conditions[0].Status = corev1.ConditionFalse
	return pod
}

func TestFirstBatch(t *testing.T) {
	label := func(keys ...string) metav1.ObjectMeta {
		meta := metav1.ObjectMeta{Labels: map[string]string{}}
		for _, key := range keys {
			meta.Labels[key] = "2"
		}
		return meta
	}
	for _, c := range []struct {
		name  string
		keys  map[string]string // barrier keys by container
		refs  map[string]metav1.ObjectMeta
		image []string
		batch []string
		next  []string
	}{
		{"IP-53: without priorities all go at once", nil, nil, []string{"a", "b", "c"}, []string{"a", "b", "c"}, nil},
		{"IP-53: the highest goes first", map[string]string{"a": "p_1", "b": "p_10", "c": "p_-1"}, nil,
			[]string{"a", "b", "c"}, []string{"b"}, []string{"a", "c"}},
		{"IP-53: of those that change", map[string]string{"a": "p_1", "b": "p_10", "c": "p_-1"}, nil,
			[]string{"a", "c"}, []string{"a"}, []string{"c"}},
		{"IP-53: those without priority go with the highest", map[string]string{"a": "p_1", "b": "p_10"}, nil,
			[]string{"a", "b", "c"}, []string{"b", "c"}, []string{"a"}},
		{"IP-51: an unreadable number is 0", map[string]string{"a": "p_x", "b": "p_1", "c": "p_-1"}, nil,
			[]string{"a", "c"}, []string{"a"}, []string{"c"}},
		{"IP-54: who reads a key that changes now joins", map[string]string{"a": "p_3", "b": "p_2", "c": "p_1"},
			map[string]metav1.ObjectMeta{"a": label("x"), "b": label("x", "y"), "c": label("y")}, nil,
			[]string{"a", "b", "c"}, nil},
		{"IP-54: labels and annotations are apart", map[string]string{"a": "p_3", "b": "p_2"},
			map[string]metav1.ObjectMeta{"a": label("x"), "b": {Annotations: map[string]string{"x": "2"}}}, nil,
			[]string{"a"}, []string{"b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			pod := podOf("a", "b", "c")
			for name, key := range c.keys {
				barrier(pod, name, key)
			}
			change := &inplace.Change{Images: map[string]string{}, RefMetadata: c.refs, EnvFromMetadata: c.refs != nil}
			for _, name := range c.image {
				change.Images[name] = name + ":2"
			}
			state := stateOf(t, apply(t, pod, change))
			if diff := cmp.Diff(c.batch, state.ContainerBatchesRecord[0].Containers); diff != "" {
				t.Errorf("batch: %s", diff)
			}
			if left := len(state.NextContainerImages) + len(state.NextContainerRefMetadata); left != len(c.next) {
				t.Errorf("IP-55: left over %+v", state)
			}
			for _, name := range c.next {
				_, image := state.NextContainerImages[name]
				_, ref := state.NextContainerRefMetadata[name]
				if !image && !ref {
					t.Errorf("IP-55: %s is not left over: %+v", name, state)
				}
			}
			if required := state.PreCheckBeforeNext; (required != nil) != (c.next != nil) ||
				required != nil && !cmp.Equal(required.ContainersRequiredReady, c.batch) {
				t.Errorf("IP-57: got %+v", required)
			}
		})
	}
	t.Run("P-14: an env of that name without a source is no priority", func(t *testing.T) {
		pod := podOf("a", "b")
		withPriority(pod, "b", -1)
		pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: wire.EnvContainerBarrier, Value: "p_5"}}
		state := stateOf(t, apply(t, pod, &inplace.Change{Images: map[string]string{"a": "a:2", "b": "b:2"}}))
		if diff := cmp.Diff([]string{"a", "b"}, state.ContainerBatchesRecord[0].Containers); diff != "" {
			t.Error(diff)
		}
	})
}

func TestBatchesInOrder(t *testing.T) {
	pod := podOf("main", "side")
	withPriority(pod, "side", 10)
	withPriority(pod, "main", 0)
	pod = apply(t, pod, &inplace.Change{Images: map[string]string{"main": "main:2", "side": "side:2"}})
	runner := &node{started: 2, slow: true}

	expect := func(rule string, phase inplace.Phase, message string) inplace.Step {
		t.Helper()
		step, err := inplace.Next(pod, start.Add(time.Minute), inplace.Gates{})
		if err != nil {
			t.Fatalf("%s: %v", rule, err)
		}
		if step.Phase != phase || step.Message != message {
			t.Fatalf("%s: got %s, %q", rule, step.Phase, step.Message)
		}
		return step
	}
	expect("IP-59, the first batch does not run yet", inplace.WaitingForContainers, "container side runs image side:1, wants side:2")
	runner.slow = false
	runner.run(pod)
	for i := range pod.Status.ContainerStatuses {
		pod.Status.ContainerStatuses[i].Ready = false
	}
	expect("IP-60, the first batch is not ready", inplace.WaitingForContainers, "container side to be ready before the next batch")
	pod.Status.ContainerStatuses[1].Ready = true

	pod.Status.Conditions[0].Status = corev1.ConditionTrue
	step := expect("drain before swap, between batches too", inplace.Draining, "the pod to be not ready")
	if !step.Status || images(step.Pod)["main"] != "main:1" {
		t.Fatalf("got %+v", step)
	}
	pod = step.Pod
	step = expect("IP-59, the next batch", inplace.Swapping, "container main to be updated")
	if step.Status || images(step.Pod)["main"] != "main:2" {
		t.Fatalf("got %+v", step)
	}
	pod = step.Pod
	state := stateOf(t, pod)
	if len(state.ContainerBatchesRecord) != 2 || state.PreCheckBeforeNext != nil || state.NextContainerImages != nil {
		t.Fatalf("IP-57, IP-58: got %+v", state)
	}
	if !state.UpdateTimestamp.Time.Equal(start) {
		t.Errorf("1.4: a later batch moved the time to %s", state.UpdateTimestamp)
	}
	runner.run(pod)
	step = expect("IP-68, all done", inplace.PhaseCompleted, "")
	if step.Pod == nil || !step.Status {
		t.Errorf("IP-68: the condition is not set back: %+v", step)
	}
}
