package inplace

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
	"github.com/flotilla-k8s/flotilla/shared/readiness"
)

// Engine carries out in-place updates of single pods. It remembers nothing: another process can go
// on between any two of its writes.
type Engine struct {
	Client client.Client
	Clock  clock.PassiveClock
	Gates  Gates
}

// Progress is what a call of the engine did for a pod and where the pod is now.
type Progress struct {
	Phase Phase
	// Wrote says that the call changed the pod in the API server.
	Wrote bool
	// Message says in words for users what is being waited for; empty if nothing is.
	Message string
	// RequeueAfter is when to call Refresh again, if nothing happens before; 0 leaves it to events.
	RequeueAfter time.Duration
	// Pod is the newest version of the pod that the engine knows; further writes of the same pass must
	// be based on it.
	Pod *corev1.Pod
}

// Start begins the update of a pod: it makes the pod not ready and reads that back (write 1), then
// writes labels, state and the first batch, or the grace record, in one patch (write 2). A pod in
// the grace period of an earlier update is left alone until that ends (IP-50).
//
// Both writes are bound to the version of the pod they are based on. A conflict is returned as it
// is, for the caller to look at the pod again; there is no retry here. After an error the pod is
// either untouched or not ready with its old label, and Refresh or another Start goes on from there.
// A change that this pod cannot take gives ErrNotInPlace. Source: IP-39 to IP-47.
func (e *Engine) Start(ctx context.Context, pod *corev1.Pod, change *Change, target Target) (Progress, error) {
	untouched := Progress{Phase: Idle, Pod: pod}
	if pod.DeletionTimestamp != nil {
		untouched.Message = "the pod is being deleted"
		return untouched, nil
	}
	grace, err := wire.GetInPlaceGrace(pod)
	if err != nil {
		return untouched, fmt.Errorf("updating pod %s: %w", pod.Name, err)
	}
	if grace != nil {
		return e.Refresh(ctx, pod, "")
	}
	if err := permit(pod, change); err != nil {
		return untouched, err
	}
	drainedPod, err := e.drain(ctx, pod)
	if err != nil {
		return untouched, err
	}
	out, err := Apply(drainedPod, change, target, e.Clock.Now())
	if err != nil {
		return Progress{Phase: Draining, Wrote: true, Pod: drainedPod}, err
	}
	started := Progress{Phase: Swapping, Wrote: true, Pod: out}
	if change.GraceSeconds > 0 {
		started.Phase = InGrace
		started.Message = "the end of the grace period"
		started.RequeueAfter = time.Duration(change.GraceSeconds) * time.Second
	}
	if err := e.Client.Patch(ctx, out, lockedPatch(drainedPod)); err != nil {
		return Progress{Phase: Draining, Wrote: drainedPod != pod, Pod: drainedPod}, fmt.Errorf("patching pod %s: %w", pod.Name, err)
	}
	return started, nil
}

// drain makes a pod that has the readiness gate not ready and returns it as the API server answers.
// It always writes: that a cached pod looks not ready proves nothing (IP-40). That the answer shows
// the condition False is checked by Apply.
func (e *Engine) drain(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	if !podstate.HasGate(pod, wire.InPlaceUpdateReady) {
		return pod, nil
	}
	out := pod.DeepCopy()
	readiness.BeginInPlace(out, e.Clock.Now())
	if err := e.Client.Status().Patch(ctx, out, readiness.StatusPatch(pod)); err != nil {
		return nil, fmt.Errorf("marking pod %s not ready: %w", pod.Name, err)
	}
	return out, nil
}

// Refresh carries out the next step of a pod, with at most one write. Call it for every pod that is
// Due, also while updates are paused: a new pod becomes ready by it (IP-69). State is the lifecycle
// state that the pod gets with this step, for example Normal after Updating; writing it together
// with the condition that lets the pod be ready saves a write. An empty state leaves the pod's alone.
func (e *Engine) Refresh(ctx context.Context, pod *corev1.Pod, state wire.LifecycleState) (Progress, error) {
	now := e.Clock.Now()
	step, err := Next(pod, now, e.Gates)
	if err != nil {
		return Progress{Pod: pod}, fmt.Errorf("refreshing pod %s: %w", pod.Name, err)
	}
	step.enter(pod, state, now)
	progress := Progress{Phase: step.Phase, Message: step.Message, RequeueAfter: step.RequeueAfter, Pod: pod}
	if step.Pod == nil {
		return progress, nil
	}
	if err := e.write(ctx, pod, step); err != nil {
		return progress, fmt.Errorf("patching pod %s: %w", pod.Name, err)
	}
	progress.Wrote, progress.Pod = true, step.Pod
	return progress, nil
}

// write sends the difference between a pod and a step's, and reads the answer into the step's.
func (e *Engine) write(ctx context.Context, pod *corev1.Pod, step Step) error {
	if step.Status {
		return e.Client.Status().Patch(ctx, step.Pod, readiness.StatusPatch(pod))
	}
	return e.Client.Patch(ctx, step.Pod, lockedPatch(pod))
}

// lockedPatch is the strategic merge patch from before to the pod it is sent with, bound to the
// version of before. It names only what differs, so fields that this library does not know survive.
func lockedPatch(before *corev1.Pod) client.Patch {
	return client.StrategicMergeFrom(before, client.MergeFromWithOptimisticLock{})
}
