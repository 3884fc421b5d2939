package inplace_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/containerhash"
	"github.com/flotilla-k8s/flotilla/shared/inplace"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
	"github.com/flotilla-k8s/flotilla/shared/readiness"
)

var start = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// failer is what the helpers need of testing.T and rapid.T.
type failer interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// newPod returns a pod of a template at revision web-1, with the readiness gate, running and ready.
func newPod(template *corev1.PodTemplateSpec) *corev1.Pod {
	template = template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Name, pod.Namespace = "web-0", "shop"
	metav1.SetMetaDataLabel(&pod.ObjectMeta, wire.LabelRevision, "web-1")
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: wire.InPlaceUpdateReady}}
	readiness.EndInPlace(pod, start.Add(-time.Hour))
	return pod
}

// twoContainers returns a pod with containers main and side, run by a node.
func twoContainers() *corev1.Pod {
	pod := newPod(&corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "main", Image: "web:1"}, {Name: "side", Image: "side:1"}}}})
	(&node{}).run(pod)
	return pod
}

// drainedPod returns twoContainers while it is not ready for an update.
func drainedPod() *corev1.Pod {
	pod := twoContainers()
	readiness.BeginInPlace(pod, start)
	return pod
}

// node plays the kubelet, and if it has one the daemon, on a pod in memory.
type node struct {
	daemon bool
	// slow leaves containers that have to be restarted as they are.
	slow    bool
	started int
	// env is what each running container was started with, by container ID.
	env map[string]uint64
}

// run starts the containers of a pod whose image, or whose env as far as the daemon may restart them
// for it (IP-86), is not what the pod asks for.
func (n *node) run(pod *corev1.Pod) {
	if n.env == nil {
		n.env = map[string]uint64{}
	}
	draining := !podstate.IsTrue(podstate.Condition(pod, wire.InPlaceUpdateReady))
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		status := podstate.ContainerStatus(pod, c.Name)
		if status == nil {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name})
			status = podstate.ContainerStatus(pod, c.Name)
		}
		env := must(containerhash.EnvFromMetadata(c, pod))
		stale := n.daemon && draining && n.env[status.ContainerID] != env
		if status.ContainerID != "" && (n.slow || status.Image == c.Image && !stale) {
			continue
		}
		n.started++
		*status = corev1.ContainerStatus{Name: c.Name, Image: c.Image, ImageID: "sha256:of-" + c.Image, Ready: true,
			ContainerID: fmt.Sprintf("containerd://%d", n.started)}
		n.env[status.ContainerID] = env
	}
	pod.Status.ObservedGeneration = pod.Generation
	if n.daemon {
		n.report(pod)
	}
}

// report writes what the daemon knows of the running containers.
func (n *node) report(pod *corev1.Pod) {
	var meta wire.RuntimeContainersMeta
	for _, status := range pod.Status.ContainerStatuses {
		ran := corev1.Container{Name: status.Name, Image: status.Image}
		meta.Containers = append(meta.Containers, wire.RuntimeContainerMeta{
			Name: status.Name, ContainerID: status.ContainerID,
			Hashes: wire.RuntimeContainerHashes{
				PlainHash:                    must(containerhash.Plain(&ran))[0],
				ExtractedEnvFromMetadataHash: n.env[status.ContainerID],
			},
		})
	}
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, wire.AnnotationRuntimeContainersMeta, must(meta.Format()))
}

// must is for encodings that cannot fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// apply is write 2 of an update to revision web-2.
func apply(t failer, pod *corev1.Pod, change *inplace.Change) *corev1.Pod {
	out, err := inplace.Apply(pod, change, targetOf("web-2"), start)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func targetOf(revision string) inplace.Target {
	return inplace.Target{Revision: revision, State: wire.LifecycleUpdating,
		Labels: map[string]string{wire.LabelRevision: revision}}
}

func stateOf(t failer, pod *corev1.Pod) *wire.InPlaceState {
	state, err := wire.GetInPlaceState(pod)
	if err != nil {
		t.Fatal(err)
	}
	if state == nil {
		t.Fatal("the pod has no state annotation")
	}
	return state
}

// images returns the images of a pod's containers by name.
func images(pod *corev1.Pod) map[string]string {
	out := map[string]string{}
	for _, c := range pod.Spec.Containers {
		out[c.Name] = c.Image
	}
	return out
}
