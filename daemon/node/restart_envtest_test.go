package node_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/daemon/cri/crifake"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/containerhash"
	"github.com/flotilla-k8s/flotilla/shared/testenv"
)

// currentHash is the kubelet's hash of the container main of podOn, in hexadecimal and as a number.
func currentHash(t *testing.T) (string, int) {
	t.Helper()
	hashes, err := containerhash.Plain(&corev1.Container{Name: "main", Image: "i:1"})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", hashes[0]), int(hashes[0])
}

// relabel changes the label that main reads, in an in-place update or not.
func relabel(t *testing.T, admin client.Client, pod *corev1.Pod, value string, inPlace bool) {
	t.Helper()
	if inPlace {
		base := pod.DeepCopy()
		pod.Status.Conditions = []corev1.PodCondition{{Type: wire.InPlaceUpdateReady, Status: corev1.ConditionFalse}}
		if err := admin.Status().Patch(t.Context(), pod, client.StrategicMergeFrom(base)); err != nil {
			t.Fatal(err)
		}
	}
	base := pod.DeepCopy()
	pod.Labels["l"] = value
	if err := admin.Patch(t.Context(), pod, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
}

func (w *world) awaitStops(t *testing.T, fake *crifake.Runtime, want ...string) {
	t.Helper()
	testenv.Until(t, patience, func(context.Context) string {
		if got := stopped(fake); fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Sprintf("stopped %v, want %v", got, want)
		}
		return ""
	})
}

func stopped(fake *crifake.Runtime) []string {
	var ids []string
	for _, call := range fake.Calls(crifake.StopContainer) {
		ids = append(ids, call.Container)
	}
	return ids
}

func (w *world) awaitEvent(t *testing.T, pod *corev1.Pod, reason string) {
	t.Helper()
	testenv.Until(t, patience, func(ctx context.Context) string {
		var list eventsv1.EventList
		if err := w.admin.List(ctx, &list, client.InNamespace(pod.Namespace)); err != nil {
			return err.Error()
		}
		for _, e := range list.Items {
			if e.Reason == reason && e.Regarding.UID == pod.UID && e.Regarding.FieldPath == "spec.containers{main}" && e.ReportingController == "kruise-daemon-containermeta" {
				return ""
			}
		}
		return "no event " + reason
	})
}

// TestRestart follows one env-from-metadata update, E-20, as far as the daemon has a part in it.
func TestRestart(t *testing.T) {
	w := newWorld(t)
	fake := w.runtime(t)
	hash, number := currentHash(t)
	stop := w.start(t)
	w.awaitHealthy(t)
	hooked := func(pod *corev1.Pod) {
		pod.Spec.TerminationGracePeriodSeconds = new(int64(11))
		pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"none"}}}}
	}
	updated := podOn(t, w.admin, w.node, w.namespace, "updated", hooked)
	byHand := podOn(t, w.admin, w.node, w.namespace, "by-hand")
	for _, pod := range []*corev1.Pod{updated, byHand} {
		fake.Run(container(pod, pod.Name, hash, env))
		playKubelet(t, w.admin, pod, "containerd://"+pod.Name)
		w.awaitReport(t, pod, report(pod.Name, number))
	}

	relabel(t, w.admin, byHand, "2", false)
	relabel(t, w.admin, updated, "2", true)
	t.Run("IP-86: the container of a pod that is updated in place is stopped, with its grace period", func(t *testing.T) {
		w.awaitStops(t, fake, "updated")
		if call := fake.Calls(crifake.StopContainer)[0]; call.Timeout != 11 {
			t.Errorf("asked %+v", call)
		}
	})
	t.Run("X-51: its hook ran before", func(t *testing.T) {
		if hooks := fake.Calls(crifake.ExecSync); len(hooks) != 1 || hooks[0].Command[0] != "none" {
			t.Errorf("ran %+v", hooks)
		}
	})
	t.Run("M-27: events on the container say so", func(t *testing.T) {
		w.awaitEvent(t, updated, "Killing")
		w.awaitEvent(t, updated, "FailedPreStopHook")
	})

	stop()
	w.start(t)
	w.awaitHealthy(t)
	fake.Run(container(updated, "updated-2", hash, "L=2"))
	playKubelet(t, w.admin, updated, "containerd://updated-2")
	t.Run("the new container is reported with the hash that the update waits for", func(t *testing.T) {
		expected, err := containerhash.EnvFromMetadata(&updated.Spec.Containers[0], updated)
		if err != nil {
			t.Fatal(err)
		}
		w.awaitReport(t, updated, fmt.Sprintf(`{"containers":[{"name":"main","containerID":"containerd://updated-2","restartCount":1,`+
			`"hashes":{"plainHash":%d,"extractedEnvFromMetadataHash":%d}}]}`, number, expected))
	})

	relabel(t, w.admin, updated, "3", true)
	t.Run("IP-25, E-20: meanwhile nothing was stopped twice, and nothing for a change by hand", func(t *testing.T) {
		w.awaitStops(t, fake, "updated", "updated-2")
	})
}

func TestRestartIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	fake := w.runtime(t)
	hash, number := currentHash(t)
	w.start(t)
	w.awaitHealthy(t)
	pod := podOn(t, w.admin, w.node, w.namespace, "pod")
	fake.Run(container(pod, "m1", hash, env))
	playKubelet(t, w.admin, pod, "containerd://m1")
	w.awaitReport(t, pod, report("m1", number))
	fake.Fail(crifake.StopContainer, fmt.Errorf("injected"))
	relabel(t, w.admin, pod, "2", true)
	w.awaitStops(t, fake, "m1")
	fake.Fail(crifake.StopContainer, nil)
	w.awaitStops(t, fake, "m1", "m1") // IP-86: it is tried again
}
