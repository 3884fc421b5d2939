package inplace_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/inplace"
)

// updated returns a pod whose container main was given another image, which no container runs yet.
func updated(t *testing.T, image string) *corev1.Pod {
	t.Helper()
	return apply(t, drainedPod(), &inplace.Change{Images: map[string]string{"main": image}})
}

// mainStatus edits the status of container main.
func mainStatus(edit func(*corev1.ContainerStatus)) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { edit(&pod.Status.ContainerStatuses[0]) }
}

// record edits what the update remembers of container main.
func record(before wire.InPlaceContainerStatus) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		state := must(wire.GetInPlaceState(pod))
		state.LastContainerStatuses["main"] = before
		pod.Annotations[wire.AnnotationInPlaceState] = must(state.Format())
	}
}

func annotation(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, value) }
}

func TestCompletedByStatus(t *testing.T) {
	const waits = "container main runs image web:1, wants web:2"
	kruise := record(wire.InPlaceContainerStatus{ImageID: "sha256:of-web:1"})
	for _, c := range []struct {
		name  string
		image string
		edit  []func(*corev1.Pod)
		want  string // what is waited for; empty when completed
	}{
		{"IP-77: nothing happened yet", "web:2", nil, waits},
		{"IP-77: another image ID", "web:2", []func(*corev1.Pod){
			mainStatus(func(s *corev1.ContainerStatus) { s.ImageID = "sha256:new" })}, ""},
		{"IP-77: a recorded container without a status", "web:2", []func(*corev1.Pod){
			func(pod *corev1.Pod) { pod.Status.ContainerStatuses = nil }}, "the status of container main"},
		{"IP-77: the same image ID under the name asked for", "web:2", []func(*corev1.Pod){
			mainStatus(func(s *corev1.ContainerStatus) { s.Image = "web:2" })}, ""},
		{"P-6: a name written in full by the runtime", "web:2", []func(*corev1.Pod){kruise,
			mainStatus(func(s *corev1.ContainerStatus) { s.Image = "docker.io/library/web:2" })}, ""},
		{"P-6: the same digest under the old name, restarted", "web:2", []func(*corev1.Pod){
			mainStatus(func(s *corev1.ContainerStatus) { s.ContainerID = "containerd://9" })}, ""},
		{"P-6: written by the reference, no such proof", "web:2", []func(*corev1.Pod){kruise,
			mainStatus(func(s *corev1.ContainerStatus) { s.ContainerID = "containerd://9" })}, waits},
		{"P-6: asked for by the digest that runs", "web@sha256:abc", []func(*corev1.Pod){
			mainStatus(func(s *corev1.ContainerStatus) { s.ImageID = "docker.io/library/web@sha256:abc" })}, ""},
		{"no image ID: the container is not started again", "web:2", []func(*corev1.Pod){
			mainStatus(func(s *corev1.ContainerStatus) { s.Image, s.ImageID = "web:2", "" })},
			"container main runs image web:2, wants web:2"},
		{"the kubelet has not seen the change", "web:2", []func(*corev1.Pod){
			func(pod *corev1.Pod) { pod.Generation, pod.Status.ObservedGeneration = 3, 2 },
			mainStatus(func(s *corev1.ContainerStatus) { s.ImageID = "sha256:new" })}, waits},
		{"the kubelet has seen the change", "web:2", []func(*corev1.Pod){
			func(pod *corev1.Pod) { pod.Generation, pod.Status.ObservedGeneration = 3, 3 },
			mainStatus(func(s *corev1.ContainerStatus) { s.ImageID = "sha256:new" })}, ""},
		{"nothing ran before: an ID may be of the image that was starting", "web:2", []func(*corev1.Pod){
			record(wire.InPlaceContainerStatus{})}, waits},
		{"nothing ran before: a kubelet that has seen the change is believed", "web:2", []func(*corev1.Pod){
			record(wire.InPlaceContainerStatus{}), func(pod *corev1.Pod) { pod.Status.ObservedGeneration = 1 }}, ""},
		{"nothing ran before: a runtime without names is believed", "web:2", []func(*corev1.Pod){
			record(wire.InPlaceContainerStatus{}), mainStatus(func(s *corev1.ContainerStatus) { s.Image = "sha256:abc" })}, ""},
		{"words: why a container waits", "web:2", []func(*corev1.Pod){
			mainStatus(func(s *corev1.ContainerStatus) {
				s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"}
			})}, waits + ": ImagePullBackOff: no such image"},
		{"IP-79: readiness does not count", "web:2", []func(*corev1.Pod){
			mainStatus(func(s *corev1.ContainerStatus) { s.ImageID, s.Ready = "sha256:new", false })}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			pod := updated(t, c.image)
			for _, edit := range c.edit {
				edit(pod)
			}
			done, waitingFor, err := inplace.Completed(pod, inplace.Gates{})
			if err != nil || done != (c.want == "") || waitingFor != c.want {
				t.Errorf("got %v, %q, %v", done, waitingFor, err)
			}
		})
	}
}

func TestCompletedByAnnotations(t *testing.T) {
	running := func(t *testing.T, image string) *corev1.Pod {
		t.Helper()
		pod := updated(t, image)
		(&node{started: 2, daemon: true}).run(pod)
		return pod
	}
	for _, c := range []struct {
		name  string
		pod   *corev1.Pod
		want  string
		fails bool
	}{
		{"IP-71: never updated in place", twoContainers(), "", false},
		{"IP-71: in grace", with(updated(t, "web:1"), annotation(wire.AnnotationInPlaceGrace, `{"revision":"web-2"}`)), "the end of the grace period", false},
		{"IP-71: in a grace period of old", with(updated(t, "web:1"), annotation(wire.AnnotationLegacyInPlaceGrace, `{"revision":"web-2"}`)), "the end of the grace period", false},
		{"IP-71: batches are left", with(twoContainers(), annotation(wire.AnnotationInPlaceState,
			`{"nextContainerImages":{"b":"x"},"nextContainerRefMetadata":{"a":{}},"nextContainerResources":{"c":{}}}`)), "the update of container a, b, c", false},
		{"IP-72: an unreadable state", with(twoContainers(), annotation(wire.AnnotationInPlaceState, "{")), "", true},
		{"IP-72: an unreadable grace", with(twoContainers(), annotation(wire.AnnotationInPlaceGrace, "{")), "", true},
		{"IP-73: an unreadable meta", with(updated(t, "web:2"), annotation(wire.AnnotationRuntimeContainersMeta, "{")), "", true},
		{"IP-76: the daemon knows, whatever the image ID", with(running(t, "web:2"), func(pod *corev1.Pod) {
			pod.Status.ContainerStatuses[0].ImageID, pod.Status.ContainerStatuses[0].Image = "sha256:of-web:1", "web:1"
		}, func(pod *corev1.Pod) { record(wire.InPlaceContainerStatus{ImageID: "sha256:of-web:1"})(pod) }), "", false},
		{"IP-76, IP-78: a report of another container says nothing", with(running(t, "web:2"), record(wire.InPlaceContainerStatus{ImageID: "sha256:of-web:1"}), func(pod *corev1.Pod) {
			s := &pod.Status.ContainerStatuses[0]
			s.ImageID, s.Image, s.ContainerID = "sha256:of-web:1", "web:1", "containerd://other"
		}), "container main runs image web:1, wants web:2", false},
		{"IP-76: an inconsistent hash is no failure", with(running(t, "web:2"), annotation(wire.AnnotationRuntimeContainersMeta,
			`{"containers":[{"name":"main","containerID":"containerd://3","hashes":{"plainHash":1}}]}`)), "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			done, waitingFor, err := inplace.Completed(c.pod, inplace.Gates{})
			if (err != nil) != c.fails || waitingFor != c.want || done != (c.want == "" && !c.fails) {
				t.Errorf("got %v, %q, %v", done, waitingFor, err)
			}
		})
	}
}

func with(pod *corev1.Pod, edits ...func(*corev1.Pod)) *corev1.Pod {
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

func TestCompletedEnv(t *testing.T) {
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "main", Image: "web:1", Env: []corev1.EnvVar{{Name: "TIER", ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['tier']"}}}}}}}}
	pod := newPod(template)
	runner := &node{daemon: true}
	runner.run(pod)
	pod.Status.Conditions[0].Status = corev1.ConditionFalse
	pod = apply(t, pod, &inplace.Change{EnvFromMetadata: true,
		RefMetadata: map[string]metav1.ObjectMeta{"main": {Labels: map[string]string{"tier": "b"}}}})

	expect := func(rule, want string) {
		t.Helper()
		done, waitingFor, err := inplace.Completed(pod, inplace.Gates{EnvFromMetadata: true})
		if err != nil || waitingFor != want || done != (want == "") {
			t.Errorf("%s: got %v, %q, %v", rule, done, waitingFor, err)
		}
	}
	expect("IP-74, not restarted", "container main to restart with the env of the new labels and annotations")
	meta := pod.Annotations[wire.AnnotationRuntimeContainersMeta]
	delete(pod.Annotations, wire.AnnotationRuntimeContainersMeta)
	expect("IP-74, without the daemon", "the node daemon to report container main")
	pod.Annotations[wire.AnnotationRuntimeContainersMeta] = meta
	runner.run(pod)
	expect("IP-74, restarted", "")
	pod.Status.ContainerStatuses[0].ContainerID = "containerd://newer"
	expect("IP-78, a container that the daemon has not seen", "the node daemon to report container main")
}

func TestCompletedResources(t *testing.T) {
	list := func(cpu string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
	resized := func(edits ...func(*corev1.Pod)) *corev1.Pod {
		pod := twoContainers()
		pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Limits: list("2"), Requests: list("1")}
		pod.Spec.Containers[1].Resources = corev1.ResourceRequirements{Limits: list("7")}
		pod.Status.ContainerStatuses[0].Resources = &corev1.ResourceRequirements{Limits: list("2000m"), Requests: list("1")}
		return with(pod, append([]func(*corev1.Pod){annotation(wire.AnnotationInPlaceState,
			`{"updateResources":true,"containerBatchesRecord":[{"containers":["main"]}]}`)}, edits...)...)
	}
	const waits = "container main to be resized"
	gate := inplace.Gates{VerticalScaling: true}
	for _, c := range []struct {
		name  string
		pod   *corev1.Pod
		gates inplace.Gates
		want  string
	}{
		{"IP-75: limits and requests run, in other units", resized(), gate, ""},
		{"P-10: containers that were not changed do not count", resized(), gate, ""},
		{"IP-75: another limit", resized(func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Resources.Limits = list("1") }), gate, waits},
		{"IP-75: another request", resized(func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Resources.Requests = list("3") }), gate, waits},
		{"IP-75: a status that does not say", resized(func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Resources = nil }), gate, waits},
		{"IP-75: no status", resized(func(p *corev1.Pod) { p.Status.ContainerStatuses = nil }), gate, waits},
		{"IP-75: the gate is off", resized(func(p *corev1.Pod) { p.Status.ContainerStatuses = nil }), inplace.Gates{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			done, waitingFor, err := inplace.Completed(c.pod, c.gates)
			if err != nil || waitingFor != c.want || done != (c.want == "") {
				t.Errorf("got %v, %q, %v", done, waitingFor, err)
			}
		})
	}
}
