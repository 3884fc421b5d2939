// Package testkubelet plays scheduler and kubelet for a namespace of an API server that has neither, so
// that controllers are tested against pods that come to life, restart and end.
package testkubelet

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/shared/podstate"
)

// BrokenMark in an image makes its containers fail to start, as an image that cannot be pulled does.
const BrokenMark = "broken"

// Kubelet binds every pod of its namespace to the node and keeps the status in step with the spec: a
// container whose image changed gets a new container ID and image ID and one restart more; Ready follows
// the containers and the readiness gates.
type Kubelet struct {
	Client    client.WithWatch
	Namespace string
	Node      string

	mu       sync.Mutex
	restarts map[string]int32 // by container of a pod, across status losses
}

// Run works until the context ends. A watch that breaks is taken up again.
func (k *Kubelet) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := k.watch(ctx); err != nil && ctx.Err() == nil {
			return fmt.Errorf("playing kubelet in %s: %w", k.Namespace, err)
		}
	}
	return nil
}

func (k *Kubelet) watch(ctx context.Context) error {
	var pods corev1.PodList
	w, err := k.Client.Watch(ctx, &pods, client.InNamespace(k.Namespace))
	if err != nil {
		return err
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		if !ok {
			continue
		}
		if err := k.sync(ctx, pod); err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

func (k *Kubelet) sync(ctx context.Context, pod *corev1.Pod) error {
	switch {
	case pod.DeletionTimestamp != nil:
		return k.Client.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})
	case pod.Spec.NodeName == "":
		return k.Client.SubResource("binding").Create(ctx, pod, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace},
			Target:     corev1.ObjectReference{Kind: "Node", Name: k.Node},
		})
	}
	after := pod.DeepCopy()
	if !k.setStatus(after) {
		return nil
	}
	return k.Client.Status().Patch(ctx, after, client.StrategicMergeFrom(pod, client.MergeFromWithOptimisticLock{}))
}

// setStatus brings the status of a pod in line with its spec and tells whether that changed anything.
func (k *Kubelet) setStatus(pod *corev1.Pod) bool {
	changed := pod.Status.Phase != corev1.PodRunning
	pod.Status.Phase = corev1.PodRunning
	ready := true
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		status := podstate.ContainerStatus(pod, c.Name)
		if status == nil {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name})
			status = &pod.Status.ContainerStatuses[len(pod.Status.ContainerStatuses)-1]
		}
		if status.Image != c.Image || status.State == (corev1.ContainerState{}) {
			k.start(pod, c, status)
			changed = true
		}
		ready = ready && status.Ready
	}
	changed = set(pod, corev1.ContainersReady, ready) || changed
	return set(pod, corev1.PodReady, ready && gatesMet(pod)) || changed
}

// start plays the start of a container with the image of the spec.
func (k *Kubelet) start(pod *corev1.Pod, c *corev1.Container, status *corev1.ContainerStatus) {
	if strings.Contains(c.Image, BrokenMark) {
		// The old container is gone before the pull fails; its image stays in the status.
		status.Ready, status.Started = false, new(false)
		status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason: "ErrImagePull", Message: "image " + c.Image + " not found"}}
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.restarts == nil {
		k.restarts = map[string]int32{}
	}
	key := string(pod.UID) + "/" + c.Name
	if status.ContainerID != "" {
		k.restarts[key]++
	}
	status.Image, status.ImageID = c.Image, "sha256:"+digest(c.Image)
	status.ContainerID = fmt.Sprintf("containerd://%s", digest(fmt.Sprintf("%s/%d", key, k.restarts[key])))
	status.RestartCount, status.Ready, status.Started = k.restarts[key], true, new(true)
	status.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
}

func digest(text string) string {
	h := fnv.New64a()
	// Writing to a hash never fails.
	_, _ = h.Write([]byte(text))
	return fmt.Sprintf("%016x", h.Sum64())
}

func gatesMet(pod *corev1.Pod) bool {
	for _, gate := range pod.Spec.ReadinessGates {
		if !podstate.IsTrue(podstate.Condition(pod, gate.ConditionType)) {
			return false
		}
	}
	return true
}

func set(pod *corev1.Pod, kind corev1.PodConditionType, on bool) bool {
	status := corev1.ConditionFalse
	if on {
		status = corev1.ConditionTrue
	}
	if c := podstate.Condition(pod, kind); c != nil && c.Status == status {
		return false
	}
	return podstate.SetCondition(pod, corev1.PodCondition{Type: kind, Status: status,
		LastTransitionTime: metav1.NewTime(time.Now())})
}
