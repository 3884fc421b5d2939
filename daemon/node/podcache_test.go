package node

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"

	"github.com/flotilla-k8s/flotilla/daemon/cri"
	"github.com/flotilla-k8s/flotilla/daemon/meta/plan"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

func strip(t rapid.TB, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	kept, err := stripPod(pod)
	if err != nil {
		t.Fatal(err)
	}
	return kept.(*corev1.Pod)
}

func field(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

// fullPod draws a pod as the API server sends it, with what the daemon reads and more.
func fullPod(t *rapid.T) *corev1.Pod {
	env := rapid.SliceOfN(rapid.SampledFrom([]corev1.EnvVar{
		{Name: "A", Value: "literal"}, field("B", "metadata.labels['read']"), field("C", "metadata.annotations['read']"), field("D", "spec.nodeName"),
		{Name: "E", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{Key: "k"}}},
	}), 0, 5)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "web-0", UID: "uid", ResourceVersion: "5",
			Labels:        map[string]string{"read": rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "label"), "other": "x"},
			Annotations:   map[string]string{"read": "1", "other": "x"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubelet"}},
		},
		Spec: corev1.PodSpec{NodeName: "n", Volumes: []corev1.Volume{{Name: "v"}}},
		Status: corev1.PodStatus{
			PodIP:      "10.0.0.1",
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		},
	}
	if rapid.Bool().Draw(t, "owned") {
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1beta1", Kind: "CloneSet", Controller: new(true)}}
	}
	if rapid.Bool().Draw(t, "injected") {
		pod.Annotations[plan.AnnotationSidecarSetHash] = "{}"
	}
	if rapid.Bool().Draw(t, "deleting") {
		pod.DeletionTimestamp = new(metav1.Now())
	}
	if rapid.Bool().Draw(t, "inPlace") {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: wire.InPlaceUpdateReady, Status: rapid.SampledFrom([]corev1.ConditionStatus{"True", "False"}).Draw(t, "ready"),
		})
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "containers") {
		name := fmt.Sprintf("c%d", i)
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: name, Image: "i", Command: []string{"x"}, Env: env.Draw(t, "env")})
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: name, ContainerID: rapid.SampledFrom([]string{"", "containerd://1", "containerd://2"}).Draw(t, "id"), ImageID: "i@1",
		})
	}
	if rapid.Bool().Draw(t, "reported") {
		pod.Annotations[wire.AnnotationRuntimeContainersMeta] = rapid.SampledFrom([]string{
			"{", `{"containers":[]}`, `{"containers":[{"name":"c0","containerID":"containerd://1","restartCount":0,"hashes":{"plainHash":1}}]}`,
			`{"containers":[{"name":"c0","containerID":"containerd://1","restartCount":0,"hashes":{"plainHash":0,"extractedEnvFromMetadataHash":7}}]}`,
			`{"containers":[{"name":"c0","containerID":"containerd://1","restartCount":0,"hashes":{"plainHash":3527205758,"extractedEnvFromMetadataHash":7}}]}`,
		}).Draw(t, "annotation")
	}
	return pod
}

// decisions is everything that is decided from a pod, as text.
func decisions(t *rapid.T, pod *corev1.Pod) string {
	world := plan.World{Pod: pod, Runtime: "containerd", WithEnv: true, EnvHashes: map[string]uint64{"1": 7}}
	for i := range 4 {
		world.Containers = append(world.Containers, cri.Container{ID: "1", Name: fmt.Sprintf("c%d", i), Running: true, PlainHash: 3})
	}
	outcome, err := plan.Compute(world)
	if err != nil {
		t.Fatal(err)
	}
	var read []string
	for _, unread := range plan.EnvToRead(world) {
		hash, err := plan.EnvHash(unread.Spec, map[string]string{"B": "b", "C": "c"})
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, fmt.Sprint(unread.ID, hash))
	}
	outdated, err := plan.Outdated(pod)
	if err != nil {
		t.Fatal(err)
	}
	var stop []string
	for _, status := range outdated {
		stop = append(stop, status.Name)
	}
	if !plan.Concerns(pod) {
		return "not concerned"
	}
	return fmt.Sprint(plan.Due(pod, true), plan.DueAtStart(pod, true), outcome, read, stop)
}

func TestStripPodProperties(t *testing.T) {
	t.Run("what is decided from a stripped pod is what is decided from the whole one", rapid.MakeCheck(func(t *rapid.T) {
		pod := fullPod(t)
		if whole, kept := decisions(t, pod), decisions(t, strip(t, pod)); whole != kept {
			t.Fatalf("from the whole pod %s\nfrom the stripped one %s", whole, kept)
		}
	}))
	t.Run("stripping twice changes nothing", rapid.MakeCheck(func(t *rapid.T) {
		once := strip(t, fullPod(t))
		if diff := cmp.Diff(once, strip(t, once)); diff != "" {
			t.Fatal(diff)
		}
	}))
	t.Run("the pod that is delivered to others is not changed", rapid.MakeCheck(func(t *rapid.T) {
		pod := fullPod(t)
		before := pod.DeepCopy()
		strip(t, pod)
		if diff := cmp.Diff(before, pod); diff != "" {
			t.Fatal(diff)
		}
	}))
}

func TestStripPod(t *testing.T) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "p", UID: "u", ResourceVersion: "1", Labels: map[string]string{"unread": "x"},
			Annotations: map[string]string{"unread": "x", plan.AnnotationSidecarSetHash: "{}"},
		},
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "unread", Args: []string{"unread"}}}},
		Status: corev1.PodStatus{Message: "unread"},
	}
	t.Run("what nobody reads is dropped", func(t *testing.T) {
		raw, err := json.Marshal(strip(t, pod))
		if err != nil || strings.Contains(string(raw), "unread") {
			t.Errorf("kept %s, %v", raw, err)
		}
	})
	t.Run("of a pod that does not concern the daemon its identity is kept alone", func(t *testing.T) {
		bare := pod.DeepCopy()
		bare.Annotations = nil
		want := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "u", ResourceVersion: "1"}}
		if diff := cmp.Diff(want, strip(t, bare)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("what a restart needs is kept of a container that reads metadata", func(t *testing.T) {
		full := pod.DeepCopy()
		full.Spec.TerminationGracePeriodSeconds = new(int64(7))
		full.Status.PodIP = "10.0.0.1"
		full.Spec.Containers[0].Env = []corev1.EnvVar{field("L", "metadata.labels['l']")}
		full.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "web", ContainerPort: 80}}
		full.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{
			PostStart: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"unread"}}},
			PreStop:   &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"bye"}}},
		}
		want := corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64(7)),
			Containers: []corev1.Container{{
				Name: "c", Image: full.Spec.Containers[0].Image, Env: full.Spec.Containers[0].Env, Ports: full.Spec.Containers[0].Ports,
				Lifecycle: &corev1.Lifecycle{PreStop: full.Spec.Containers[0].Lifecycle.PreStop},
			}},
		}
		kept := strip(t, full)
		if diff := cmp.Diff(want, kept.Spec); diff != "" || kept.Status.PodIP != "10.0.0.1" {
			t.Error(diff, kept.Status.PodIP)
		}
	})
	t.Run("the last known state of a deleted pod passes", func(t *testing.T) {
		last := toolscache.DeletedFinalStateUnknown{Key: "ns/p"}
		if got, err := stripPod(last); err != nil || got != any(last) {
			t.Errorf("got %v, %v", got, err)
		}
	})
}
