// Package restart knows how containers get the env values that an in-place update gave to the metadata of
// their pod: a container that was started with other values is stopped, and the kubelet starts it anew
// (IP-24, IP-86).
//
// Whether it must be stopped is decided again right before, from what the pod and the runtime say, so a
// daemon that starts again stops nothing twice.
package restart

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/flotilla-k8s/flotilla/daemon/cri"
	"github.com/flotilla-k8s/flotilla/daemon/meta/plan"
	"github.com/flotilla-k8s/flotilla/daemon/stop"
)

// runtimePause is how long a container waits whose runtime has not been found.
const runtimePause = 5 * time.Second

// Request names one container of one pod, in one of its lives.
type Request struct {
	Pod types.NamespacedName
	// Container is its name in the pod's spec.
	Container string
	// ID is the container ID in the pod's status.
	ID string
}

// Runtimes finds the runtime of a container by the ID in a pod's status.
type Runtimes interface {
	For(containerID string) (cri.Runtime, bool)
}

// Reconciler stops one container at a time.
type Reconciler struct {
	// Reader reads pods from the cache.
	Reader   client.Reader
	Runtimes Runtimes
	Clock    clock.Clock
	Recorder events.EventRecorder
}

// Reconcile stops the container if that is still wanted and it still runs.
func (r *Reconciler) Reconcile(ctx context.Context, req Request) (reconcile.Result, error) {
	var pod corev1.Pod
	if err := r.Reader.Get(ctx, req.Pod, &pod); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	wanted, err := isOutdated(&pod, req)
	if err != nil || !wanted {
		return reconcile.Result{}, err
	}
	runtime, found := r.Runtimes.For(req.ID)
	if !found {
		logf.FromContext(ctx).V(4).Info("Waiting for the container runtime", "container", req.ID)
		return reconcile.Result{RequeueAfter: runtimePause}, nil
	}
	containers, err := runtime.Containers(ctx, string(pod.UID))
	if err != nil {
		return reconcile.Result{}, err
	}
	running := slices.ContainsFunc(containers, func(c cri.Container) bool {
		return c.Running && cri.FullID(runtime.Name(), c.ID) == req.ID
	})
	if !running {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, r.stop(ctx, &pod, req, runtime)
}

func isOutdated(pod *corev1.Pod, req Request) (bool, error) {
	outdated, err := plan.Outdated(pod)
	return slices.ContainsFunc(outdated, func(status *corev1.ContainerStatus) bool {
		return status.Name == req.Container && status.ContainerID == req.ID
	}), err
}

func (r *Reconciler) stop(ctx context.Context, pod *corev1.Pod, req Request, runtime cri.Runtime) error {
	i := slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == req.Container })
	target := stop.Target{
		ID:    cri.BareID(req.ID),
		Spec:  &pod.Spec.Containers[i], // plan.Outdated found it there
		PodIP: pod.Status.PodIP,
		Grace: grace(pod),
	}
	r.recordKilling(pod, req.Container)
	result, err := stop.Container(ctx, runtime, r.Clock, target)
	if result.HookError != nil {
		r.recordFailedHook(pod, req.Container, result.HookError)
	}
	if err != nil {
		return fmt.Errorf("restarting container %s: %w", req.Container, err)
	}
	logf.FromContext(ctx).V(2).Info("Stopped container to start it with new env", "pod", klog.KObj(pod), "container", req.Container)
	return nil
}

func grace(pod *corev1.Pod) time.Duration {
	seconds := ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, int64(stop.DefaultGrace/time.Second))
	return time.Duration(seconds) * time.Second
}
