package plan_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/flotilla-k8s/flotilla/daemon/cri"
	"github.com/flotilla-k8s/flotilla/daemon/meta/plan"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// worlds draws a pod with up to four containers, some of which read metadata, what the runtime has of
// them, current and past, and an annotation that some earlier pass may have written.
func worlds(t *rapid.T) plan.World {
	w := plan.World{Runtime: "containerd", WithEnv: rapid.Bool().Draw(t, "withEnv"), EnvHashes: map[string]uint64{}}
	w.Pod = aPod(func(pod *corev1.Pod) {
		pod.Spec.Containers, pod.Status.ContainerStatuses = nil, nil
	})
	for i := range rapid.IntRange(0, 4).Draw(t, "containers") {
		name := fmt.Sprintf("c%d", i)
		container := corev1.Container{Name: name}
		if rapid.Bool().Draw(t, "readsMetadata") {
			container.Env = []corev1.EnvVar{fromField("L", "metadata.labels['l']")}
		}
		w.Pod.Spec.Containers = append(w.Pod.Spec.Containers, container)
		lives := rapid.IntRange(0, 3).Draw(t, "lives")
		for life := range lives {
			c := cri.Container{
				ID: fmt.Sprintf("%s-%d", name, life), Name: name, CreatedAt: int64(life), RestartCount: int32(life),
				Running: life == lives-1, PlainHash: rapid.Uint64Range(0, 3).Draw(t, "plainHash"),
			}
			w.Containers = append(w.Containers, c)
			w.EnvHashes[c.ID] = rapid.Uint64Range(0, 3).Draw(t, "envHash")
		}
		status := corev1.ContainerStatus{Name: name}
		if lives > 0 {
			status.ContainerID = fmt.Sprintf("containerd://%s-%d", name, lives-1)
		}
		w.Pod.Status.ContainerStatuses = append(w.Pod.Status.ContainerStatuses, status)
	}
	if rapid.Bool().Draw(t, "reportedBefore") {
		earlier := w
		earlier.Containers = rapid.SliceOfDistinct(rapid.SampledFrom(append(w.Containers, cri.Container{})), func(c cri.Container) string { return c.ID }).Draw(t, "earlier")
		write(t, w.Pod, compute(t, earlier))
	}
	return w
}

func compute(t *rapid.T, w plan.World) plan.Outcome {
	outcome, err := plan.Compute(w)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func write(t *rapid.T, pod *corev1.Pod, outcome plan.Outcome) {
	if !outcome.Write {
		return
	}
	reported(outcome.Value)(pod)
	if _, err := wire.GetRuntimeContainersMeta(pod); err != nil {
		t.Fatalf("wrote what cannot be read: %v", err)
	}
}

func meta(t *rapid.T, pod *corev1.Pod) *wire.RuntimeContainersMeta {
	m, err := wire.GetRuntimeContainersMeta(pod)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestComputeProperties(t *testing.T) {
	t.Run("E-22: what was written is not written again", rapid.MakeCheck(func(t *rapid.T) {
		w := worlds(t)
		write(t, w.Pod, compute(t, w))
		if again := compute(t, w); again.Write {
			t.Fatalf("writes %s over %s", again.Value, w.Pod.Annotations[wire.AnnotationRuntimeContainersMeta])
		}
	}))
	t.Run("IP-83: after a report a pod is due only for env hashes that are not known yet", rapid.MakeCheck(func(t *rapid.T) {
		w := worlds(t)
		write(t, w.Pod, compute(t, w))
		unread := len(plan.EnvToRead(w)) > 0
		if due := plan.Due(w.Pod, w.WithEnv); due != unread {
			t.Fatalf("due: %t, env to read: %t, annotation %q", due, unread, w.Pod.Annotations)
		}
	}))
	t.Run("the order of the runtime's list is irrelevant", rapid.MakeCheck(func(t *rapid.T) {
		w := worlds(t)
		before := compute(t, w)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		random.Shuffle(len(w.Containers), func(i, j int) { w.Containers[i], w.Containers[j] = w.Containers[j], w.Containers[i] })
		if after := compute(t, w); after != before {
			t.Fatalf("%+v became %+v", before, after)
		}
	}))
	t.Run("M-3, M-7: entries name the newest containers and change only with them", rapid.MakeCheck(func(t *rapid.T) {
		w := worlds(t)
		old := meta(t, w.Pod)
		write(t, w.Pod, compute(t, w))
		next := meta(t, w.Pod)
		for _, status := range w.Pod.Status.ContainerStatuses {
			entry := next.Container(status.Name)
			if status.ContainerID == "" {
				continue
			}
			if entry == nil || entry.ContainerID != status.ContainerID {
				t.Fatalf("container %s is %s, reported %+v", status.Name, status.ContainerID, entry)
			}
			known := old.Container(status.Name)
			if known == nil || known.ContainerID != entry.ContainerID {
				continue
			}
			kept := *entry
			if known.Hashes.ExtractedEnvFromMetadataHash == 0 {
				kept.Hashes.ExtractedEnvFromMetadataHash = 0
			}
			if kept != *known {
				t.Fatalf("%+v became %+v", known, entry)
			}
		}
	}))
}
