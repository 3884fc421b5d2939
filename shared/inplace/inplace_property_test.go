package inplace_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/containerhash"
	"github.com/flotilla-k8s/flotilla/shared/inplace"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
	"github.com/flotilla-k8s/flotilla/shared/readiness"
	"github.com/flotilla-k8s/flotilla/shared/revision"
)

// maxSteps is more than any update of the generated pods takes.
const maxSteps = 40

var (
	keys   = []string{"k1", "k2", "k3"}
	values = rapid.SampledFrom([]string{"", "1", "2", "3"})
)

// genTemplate draws one to four containers, each of which may read labels and annotations.
func genTemplate(t *rapid.T) *corev1.PodTemplateSpec {
	template := &corev1.PodTemplateSpec{ObjectMeta: genMetadata(t, "old")}
	for i := range rapid.IntRange(1, 4).Draw(t, "containers") {
		c := corev1.Container{Name: fmt.Sprintf("c%d", i), Image: fmt.Sprintf("c%d:1", i)}
		for _, key := range keys {
			switch rapid.IntRange(0, 3).Draw(t, c.Name+" reads "+key) {
			case 0:
				c.Env = append(c.Env, fromField("L_"+key, "metadata.labels['"+key+"']"))
			case 1:
				c.Env = append(c.Env, fromField("A_"+key, "metadata.annotations['"+key+"']"))
			}
		}
		template.Spec.Containers = append(template.Spec.Containers, c)
	}
	return template
}

func fromField(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

func genMetadata(t *rapid.T, of string) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Labels: map[string]string{}, Annotations: map[string]string{}}
	for _, key := range keys {
		if value := values.Draw(t, of+" label "+key); value != "" {
			meta.Labels[key] = value
		}
		if value := values.Draw(t, of+" annotation "+key); value != "" {
			meta.Annotations[key] = value
		}
	}
	return meta
}

// genNext draws a template that differs from the given one only in what can be updated in place.
func genNext(t *rapid.T, template *corev1.PodTemplateSpec, of string) *corev1.PodTemplateSpec {
	out := template.DeepCopy()
	out.ObjectMeta = genMetadata(t, of)
	for i := range out.Spec.Containers {
		c := &out.Spec.Containers[i]
		c.Image = fmt.Sprintf("%s:%d", c.Name, rapid.IntRange(1, 3).Draw(t, of+" image of "+c.Name))
	}
	return out
}

// genPod draws a running pod of a template, with a container and keys that are not from the template,
// and maybe with launch priorities.
func genPod(t *rapid.T, template *corev1.PodTemplateSpec, runner *node) *corev1.Pod {
	pod := newPod(template)
	pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "injected", Image: "injected:1"})
	metav1.SetMetaDataLabel(&pod.ObjectMeta, "foreign", "kept")
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, "foreign", "kept")
	pod.Finalizers = []string{"foreign/f"}
	if rapid.Bool().Draw(t, "priorities") {
		for i := range pod.Spec.Containers {
			name := pod.Spec.Containers[i].Name
			withPriority(pod, name, rapid.IntRange(-1, 1).Draw(t, "priority of "+name))
		}
	}
	runner.run(pod)
	return pod
}

func store(t failer, name string, template *corev1.PodTemplateSpec) *appsv1.ControllerRevision {
	data, err := revision.Data(template)
	if err != nil {
		t.Fatal(err)
	}
	return &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: runtime.RawExtension{Raw: data}}
}

// world is a pod and the time, on which the writes of the engine are played.
type world struct {
	t      *rapid.T
	pod    *corev1.Pod
	runner *node
	now    time.Time
}

// write replaces the pod and checks the promises that hold for every single write.
func (w *world) write(pod *corev1.Pod, status bool) {
	drained := !podstate.IsTrue(podstate.Condition(w.pod, wire.InPlaceUpdateReady))
	if changed := !maps.Equal(images(w.pod), images(pod)); changed && (!drained || status) {
		w.t.Fatalf("drain before swap: images go from %v to %v", images(w.pod), images(pod))
	}
	if pod.Labels["foreign"] != "kept" || pod.Annotations["foreign"] != "kept" || len(pod.Finalizers) != 1 {
		w.t.Fatalf("IP-16: foreign keys are lost: %v", pod.ObjectMeta)
	}
	w.pod = pod
}

// gates has env from metadata on where the node has a daemon, without which it never completes (IP-74).
func (w *world) gates() inplace.Gates { return inplace.Gates{EnvFromMetadata: w.runner.daemon} }

// start plays Engine.Start.
func (w *world) start(old, new *appsv1.ControllerRevision, grace int32) {
	change, refusal, err := inplace.Compute(old, new, inplace.Options{GraceSeconds: grace, Gates: w.gates()})
	if err != nil || refusal != "" {
		w.t.Fatalf("IP-12: refused %q, %v", refusal, err)
	}
	drained := w.pod.DeepCopy()
	readiness.BeginInPlace(drained, w.now)
	w.write(drained, true)
	out, err := inplace.Apply(w.pod, change, targetOf(new.Name), w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(out, false)
}

// step plays one call of Refresh after some time and tells whether the update is completed.
func (w *world) step() bool {
	w.now = w.now.Add(2 * time.Second)
	step, err := inplace.Next(w.pod, w.now, w.gates())
	if err != nil {
		w.t.Fatal(err)
	}
	view := (&inplace.Engine{}).Look(w.pod, w.now)
	if done, _, err := inplace.Completed(w.pod, inplace.Gates{}); err != nil || done != view.Completed {
		w.t.Fatalf("IP-71: Completed says %v (%v), Look %+v", done, err, view)
	}
	if step.Pod != nil {
		w.write(step.Pod, step.Status)
	}
	if step.Phase == inplace.PhaseCompleted {
		return true
	}
	if !w.runner.slow {
		w.runner.run(w.pod)
	}
	return false
}

// finish steps until the update is completed.
func (w *world) finish() {
	for range maxSteps {
		if w.step() {
			return
		}
	}
	w.t.Fatalf("IP-68: not completed after %d steps: %v", maxSteps, w.pod.Annotations)
}

// expect checks that the pod has and runs everything that a template says.
func (w *world) expect(template *corev1.PodTemplateSpec) {
	for i, c := range template.Spec.Containers {
		if got := images(w.pod)[c.Name]; got != c.Image {
			w.t.Fatalf("P-2: container %s has image %s, want %s", c.Name, got, c.Image)
		}
		status := podstate.ContainerStatus(w.pod, c.Name)
		if status.Image != c.Image {
			w.t.Fatalf("IP-71: completed, but container %s runs image %s, want %s", c.Name, status.Image, c.Image)
		}
		if env := must(containerhash.EnvFromMetadata(&template.Spec.Containers[i], w.pod)); w.runner.daemon && env != w.runner.env[status.ContainerID] {
			w.t.Fatalf("IP-74: completed, but container %s runs with env of earlier metadata", c.Name)
		}
	}
	for _, key := range keys {
		if got, want := w.pod.Labels[key], template.Labels[key]; got != want {
			w.t.Fatalf("IP-15: label %s is %q, want %q", key, got, want)
		}
		if got, want := w.pod.Annotations[key], template.Annotations[key]; got != want {
			w.t.Fatalf("IP-15: annotation %s is %q, want %q", key, got, want)
		}
	}
	if !podstate.IsTrue(podstate.Condition(w.pod, wire.InPlaceUpdateReady)) {
		w.t.Fatal("IP-68: completed and not ready")
	}
}

// Whatever can be updated in place arrives: images, labels, annotations, env, in batches or at once, with
// or without grace. No image is written while the pod is ready, and foreign keys survive.
func TestUpdateProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := genTemplate(t)
		new := genNext(t, old, "new")
		w := &world{t: t, runner: &node{daemon: rapid.Bool().Draw(t, "daemon")}, now: start}
		w.pod = genPod(t, old, w.runner)
		w.start(store(t, "web-1", old), store(t, "web-2", new), int32(rapid.IntRange(0, 5).Draw(t, "grace")))
		w.finish()
		w.expect(new)
	})
}

// An update that overtakes another one at any point of it ends at the newer template, with nothing of
// either lost (P-2), though the change is computed between the two revisions alone.
func TestOvertakingProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := genTemplate(t)
		second := genNext(t, old, "second")
		third := rapid.OneOf(rapid.Just(old), rapid.Just(second), rapid.Custom(func(t *rapid.T) *corev1.PodTemplateSpec {
			return genNext(t, old, "third")
		})).Draw(t, "third template")
		w := &world{t: t, runner: &node{daemon: rapid.Bool().Draw(t, "daemon")}, now: start}
		w.pod = genPod(t, old, w.runner)
		w.start(store(t, "web-1", old), store(t, "web-2", second), int32(rapid.IntRange(0, 5).Draw(t, "grace")))
		w.runner.slow = rapid.Bool().Draw(t, "node is slow")
		for range rapid.IntRange(0, 6).Draw(t, "steps before") {
			w.step()
		}
		w.runner.slow = false
		for w.pod.Annotations[wire.AnnotationInPlaceGrace] != "" {
			w.step() // IP-50: a pod in grace is not given another update.
		}
		w.start(store(t, "web-2", second), store(t, "web-3", third), int32(rapid.IntRange(0, 5).Draw(t, "second grace")))
		w.finish()
		w.expect(third)
	})
}

// Batches follow the launch priorities: no container is recorded after one of a lower priority.
func TestBatchOrderProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		template := &corev1.PodTemplateSpec{}
		priorities := map[string]int{}
		change := &inplace.Change{Images: map[string]string{}}
		for i := range rapid.IntRange(1, 5).Draw(t, "containers") {
			name := fmt.Sprintf("c%d", i)
			template.Spec.Containers = append(template.Spec.Containers, corev1.Container{Name: name, Image: name + ":1"})
			priorities[name] = rapid.IntRange(-2, 2).Draw(t, name)
			change.Images[name] = name + ":2"
		}
		w := &world{t: t, runner: &node{}, now: start, pod: newPod(template)}
		for name, priority := range priorities {
			withPriority(w.pod, name, priority)
		}
		w.pod.Labels["foreign"], w.pod.Annotations, w.pod.Finalizers = "kept", map[string]string{"foreign": "kept"}, []string{"foreign/f"}
		w.runner.run(w.pod)
		drained := w.pod.DeepCopy()
		readiness.BeginInPlace(drained, w.now)
		w.pod = apply(t, drained, change)
		w.finish()
		last := 3
		for _, batch := range stateOf(t, w.pod).ContainerBatchesRecord {
			for _, name := range batch.Containers {
				if priorities[name] != priorities[batch.Containers[0]] {
					t.Fatalf("IP-53: batch %v mixes priorities %v", batch.Containers, priorities)
				}
			}
			if now := priorities[batch.Containers[0]]; now >= last {
				t.Fatalf("IP-53: batch %v after priority %d", batch.Containers, last)
			} else {
				last = now
			}
		}
	})
}
