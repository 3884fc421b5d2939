package restart_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	kubelettypes "k8s.io/kubelet/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/daemon/cri"
	"github.com/flotilla-k8s/flotilla/daemon/cri/crifake"
	"github.com/flotilla-k8s/flotilla/daemon/restart"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// cache is the pod that the daemon knows, or none.
type cache struct {
	client.Reader
	pod *corev1.Pod
}

func (c cache) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	if c.pod == nil {
		return apierrors.NewNotFound(corev1.Resource("pods"), key.Name)
	}
	c.pod.DeepCopyInto(obj.(*corev1.Pod))
	return nil
}

// runtimes knows the runtime of containerd, or none.
type runtimes struct{ client *cri.Client }

func (r runtimes) For(containerID string) (cri.Runtime, bool) {
	return r.client, r.client != nil && cri.Scheme(containerID) == "containerd"
}

// outdatedPod has a container main, containerd://m1, whose label has changed in an in-place update.
func outdatedPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "web-0", UID: "uid", Labels: map[string]string{"l": "2"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1beta1", Controller: new(true)}},
			Annotations: map[string]string{wire.AnnotationRuntimeContainersMeta: `{"containers":[{"name":"main","containerID":"containerd://m1",` +
				`"restartCount":0,"hashes":{"plainHash":0,"extractedEnvFromMetadataHash":7}}]}`},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Env: []corev1.EnvVar{{
			Name: "L", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['l']"}},
		}}}}},
		Status: corev1.PodStatus{
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", ContainerID: "containerd://m1"}},
			Conditions:        []corev1.PodCondition{{Type: wire.InPlaceUpdateReady, Status: corev1.ConditionFalse}},
		},
	}
}

func TestReconcile(t *testing.T) {
	type world struct {
		pod     *corev1.Pod
		request restart.Request
		state   runtimev1.ContainerState
		fail    error
		noOne   bool
	}
	cases := []struct {
		name      string
		change    func(*world)
		wantStops int
		wantGrace int64
		wantAfter time.Duration
		wantErr   bool
	}{
		{name: "IP-86: a running container is stopped; X-52: 30 s where the pod states nothing", wantStops: 1, wantGrace: 30},
		{
			name: "X-52: with the pod's grace period", wantStops: 1, wantGrace: 5,
			change: func(w *world) { w.pod.Spec.TerminationGracePeriodSeconds = new(int64(5)) },
		},
		{name: "M-26: not one that has ended", change: func(w *world) { w.state = runtimev1.ContainerState_CONTAINER_EXITED }},
		{name: "M-26: not one of a pod that is gone", change: func(w *world) { w.pod = nil }},
		{name: "not one that is up to date by now", change: func(w *world) { w.pod.Status.Conditions = nil }},
		{name: "not another life of the container", change: func(w *world) { w.request.ID = "containerd://m0" }},
		{name: "not another container", change: func(w *world) { w.request.Container = "side" }},
		{name: "a runtime that is missing is waited for", change: func(w *world) { w.noOne = true }, wantAfter: 5 * time.Second},
		{name: "IP-86: a runtime that does not answer is an error", change: func(w *world) { w.fail = errors.New("injected") }, wantErr: true},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			w := world{pod: outdatedPod(), state: runtimev1.ContainerState_CONTAINER_RUNNING}
			w.request = restart.Request{Pod: client.ObjectKeyFromObject(w.pod), Container: "main", ID: "containerd://m1"}
			if tc.change != nil {
				tc.change(&w)
			}
			fake, dialled := startRuntime(t)
			fake.Run(crifake.Container{ID: "m1", State: w.state, Labels: map[string]string{
				kubelettypes.KubernetesPodUIDLabel: "uid", kubelettypes.KubernetesContainerNameLabel: "main",
			}})
			fake.Fail(crifake.ListContainers, w.fail)
			recorder := events.NewFakeRecorder(10)
			r := &restart.Reconciler{Reader: cache{pod: w.pod}, Runtimes: runtimes{client: dialled}, Clock: clock.RealClock{}, Recorder: recorder}
			if w.noOne {
				r.Runtimes = runtimes{}
			}
			result, err := r.Reconcile(t.Context(), w.request)
			if (err != nil) != tc.wantErr || result.RequeueAfter != tc.wantAfter {
				t.Errorf("got %v, %v", result, err)
			}
			stops := fake.Calls(crifake.StopContainer)
			if len(stops) != tc.wantStops || len(recorder.Events) != tc.wantStops {
				t.Fatalf("stopped %v with %d events", stops, len(recorder.Events))
			}
			if len(stops) > 0 && (stops[0].Container != "m1" || stops[0].Timeout != tc.wantGrace) {
				t.Errorf("stopped %+v", stops[0])
			}
		})
	}
}

func startRuntime(t *testing.T) (*crifake.Runtime, *cri.Client) {
	t.Helper()
	fake := crifake.Start(t, "containerd", filepath.Join(crifake.SocketDir(t), "s"))
	dialled, err := cri.Dial(t.Context(), fake.Socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dialled.Close() })
	return fake, dialled
}
