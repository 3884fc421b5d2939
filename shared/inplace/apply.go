package inplace

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
)

// ErrNotInPlace says that a change cannot be made to this pod, although its revisions allow it.
var ErrNotInPlace = errors.New("the pod cannot be updated in place")

var (
	errNoContainer = errors.New("the pod has no such container")
	errNotDrained  = errors.New("condition " + string(wire.InPlaceUpdateReady) + " is not False")
	errResources   = errors.New("pending resource changes are not supported by this version")
)

// Target is what a pod becomes by an update.
type Target struct {
	// Revision is recorded as the target: the full ControllerRevision name, or the short hash for
	// DaemonSet.
	Revision string
	// Labels are the revision labels to write.
	Labels map[string]string
	// State is the lifecycle state to write with them; empty leaves it alone.
	State wire.LifecycleState
}

// Apply returns the pod as it has to be after write 2 of an update: labels, lifecycle, a fresh state,
// and either the first batch of the change or, with a grace period, the record that keeps it. What an
// earlier unfinished update still owes its containers is carried over (P-2).
//
// A pod that has the readiness gate must show InPlaceUpdateReady=False, or it is an error: drain
// before swap. An unreadable state of an earlier update is dropped, so that a new update heals the
// pod. Source: IP-43 to IP-46.
func Apply(pod *corev1.Pod, change *Change, target Target, now time.Time) (*corev1.Pod, error) {
	if err := permit(pod, change); err != nil {
		return nil, err
	}
	if !drained(pod) {
		return nil, fmt.Errorf("updating pod %s: %w", pod.Name, errNotDrained)
	}
	out := pod.DeepCopy()
	for key, value := range target.Labels {
		metav1.SetMetaDataLabel(&out.ObjectMeta, key, value)
	}
	if target.State != "" {
		podstate.SetLifecycle(out, target.State, now)
	}
	state := &wire.InPlaceState{Revision: target.Revision, UpdateTimestamp: wholeSecond(now)}
	change = carryOver(pod, change, state)
	state.UpdateImages = state.UpdateImages || len(change.Images) > 0
	state.UpdateEnvFromMetadata = state.UpdateEnvFromMetadata || change.EnvFromMetadata
	if change.GraceSeconds > 0 {
		if err := setGrace(out, change.grace(target.Revision)); err != nil {
			return nil, err
		}
		return out, setState(out, state)
	}
	return out, applyFirst(out, change.MetadataPatch, pendingOfChange(change), state, now)
}

// wholeSecond rounds a time up, as it is kept in whole seconds and a grace period that counts from it
// must not be shorter than asked for.
func wholeSecond(t time.Time) metav1.Time {
	return metav1.NewTime(t.Add(time.Second - time.Nanosecond).Truncate(time.Second))
}

// permit refuses a change that a pod cannot take for reasons of its own. Source: IP-42.
func permit(pod *corev1.Pod, change *Change) error {
	if change.EnvFromMetadata && !podstate.HasGate(pod, wire.InPlaceUpdateReady) {
		return fmt.Errorf("changing env of pod %s: %w: it has no readiness gate %s",
			pod.Name, ErrNotInPlace, wire.InPlaceUpdateReady)
	}
	return nil
}

// drained tells whether a pod may be swapped: it has no gate to be drained by, or is drained. Our
// condition alone does not say so: a kubelet that was in the middle of something when we wrote it puts
// an older Ready=True over ours, for about a second, until it looks again.
func drained(pod *corev1.Pod) bool {
	if !podstate.HasGate(pod, wire.InPlaceUpdateReady) {
		return true
	}
	condition := podstate.Condition(pod, wire.InPlaceUpdateReady)
	return condition != nil && condition.Status == corev1.ConditionFalse &&
		!podstate.IsTrue(podstate.Condition(pod, corev1.PodReady))
}

// applyFirst changes the pod by the metadata patch and the first batch, and ends its grace period.
// Source: IP-45, IP-56, IP-64.
func applyFirst(pod *corev1.Pod, patch []byte, todo pending, state *wire.InPlaceState, now time.Time) error {
	if err := patchMetadata(pod, patch); err != nil {
		return fmt.Errorf("updating pod %s: %w", pod.Name, err)
	}
	if err := applyBatch(pod, todo, state, metav1.NewTime(now)); err != nil {
		return fmt.Errorf("updating pod %s: %w", pod.Name, err)
	}
	delete(pod.Annotations, wire.AnnotationInPlaceGrace)
	delete(pod.Annotations, wire.AnnotationLegacyInPlaceGrace)
	return setState(pod, state)
}

func setState(pod *corev1.Pod, state *wire.InPlaceState) error {
	text, err := state.Format()
	if err != nil {
		return err
	}
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, wire.AnnotationInPlaceState, text)
	delete(pod.Annotations, wire.AnnotationLegacyInPlaceState)
	return nil
}

func setGrace(pod *corev1.Pod, grace *wire.InPlaceGrace) error {
	text, err := grace.Format()
	if err != nil {
		return err
	}
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, wire.AnnotationInPlaceGrace, text)
	return nil
}
