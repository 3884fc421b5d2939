package cloneset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/operators/workloads/cloneset/plan"
	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/gates"
	"github.com/flotilla-k8s/flotilla/shared/inplace"
	"github.com/flotilla-k8s/flotilla/shared/lifecycle"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
	"github.com/flotilla-k8s/flotilla/shared/readiness"
	"github.com/flotilla-k8s/flotilla/shared/revision"
)

// idLength and idAlphabet are wire (CS-17).
const (
	idLength   = 5
	idAlphabet = "bcdfghjklmnpqrstvwxz2456789"
)

// drawID takes the id of a free claim, or draws one that nothing uses (CS-17, CS-100).
func (r *Reconciler) drawID(c *claims) string {
	if len(c.free) > 0 {
		id := c.free[0]
		c.free = c.free[1:]
		return id
	}
	for {
		id := make([]byte, idLength)
		for i := range id {
			id[i] = idAlphabet[r.Random(len(idAlphabet))]
		}
		if !c.taken.Has(string(id)) {
			c.taken.Insert(string(id))
			return string(id)
		}
	}
}

// createPod creates the claims of an instance that do not exist yet, then its pod (CS-80, CS-97).
func (r *Reconciler) createPod(ctx context.Context, set *appsv1beta1.CloneSet, o *observed, step plan.Step, id string) (result, error) {
	rev := o.history.byHash(step.Revision)
	template, err := revision.Template(rev)
	if err != nil {
		return result{}, err
	}
	pod := newPod(set, template, r.revisionLabels(rev.Name), id, r.Clock.Now())
	for _, claim := range newClaims(set, id) {
		if err := r.Client.Create(ctx, claim); err != nil && !apierrors.IsAlreadyExists(err) {
			r.eventCreateFailed(set, "claim", claim.Name, err)
			return result{}, fmt.Errorf("creating claim %s: %w", claim.Name, err)
		}
	}
	if err := r.Client.Create(ctx, pod); err != nil {
		r.eventCreateFailed(set, "pod", pod.Name, err)
		return result{}, fmt.Errorf("creating pod %s: %w", pod.Name, err)
	}
	r.eventCreated(set, pod)
	return result{changed: true}, nil
}

func (r *Reconciler) revisionLabels(name string) map[string]string {
	return revisionLabels(name, r.Gates.Enabled(gates.CloneSetShortHash))
}

// runStep carries out a step on a pod that exists.
func (r *Reconciler) runStep(ctx context.Context, set *appsv1beta1.CloneSet, o *observed, step plan.Step) (result, error) {
	pod := o.pods[step.Pod]
	switch step.Action {
	case plan.Delete:
		return r.deletePod(ctx, set, o, pod)
	case plan.SetState:
		return r.setState(ctx, set, pod, step)
	case plan.SetTemplateHash:
		return result{changed: true}, r.patchLabels(ctx, pod, map[string]string{wire.LabelPodTemplateHash: revision.ShortHash(step.Revision)})
	case plan.MarkForRecreate:
		return r.markForRecreate(ctx, set, pod, step)
	case plan.UpdateInPlace:
		return r.updateInPlace(ctx, set, o, pod, step)
	case plan.Refresh:
		return r.refresh(ctx, pod, step)
	case plan.Refuse:
		err := fmt.Errorf("updating pod %s in place: %s", pod.Name, step.Reason)
		r.eventUpdateFailed(set, pod, err)
		return result{}, err
	default:
		return result{}, fmt.Errorf("carrying out step %s on pod %s: unknown action", step.Action, step.Pod)
	}
}

// deletePod deletes exactly the pod that was seen, then its claims (CS-84).
func (r *Reconciler) deletePod(ctx context.Context, set *appsv1beta1.CloneSet, o *observed, pod *corev1.Pod) (result, error) {
	err := r.Client.Delete(ctx, pod, client.Preconditions{UID: &pod.UID})
	if client.IgnoreNotFound(err) != nil {
		r.eventDeleteFailed(set, pod, err)
		return result{}, fmt.Errorf("deleting pod %s: %w", pod.Name, err)
	}
	r.eventDeleted(set, pod)
	return result{changed: true}, r.deleteClaims(ctx, o.claims.byInstance[pod.Labels[wire.LabelCloneSetInstanceID]])
}

func (r *Reconciler) markForRecreate(ctx context.Context, set *appsv1beta1.CloneSet, pod *corev1.Pod, step plan.Step) (result, error) {
	if err := r.patchLabels(ctx, pod, map[string]string{wire.LabelSpecifiedDelete: "true"}); err != nil {
		r.eventRecreateFailed(set, pod, err)
		return result{}, err
	}
	r.eventRecreate(set, pod, step.Reason)
	return result{changed: true}, nil
}

// updateInPlace starts the in-place update of one pod.
func (r *Reconciler) updateInPlace(ctx context.Context, set *appsv1beta1.CloneSet, o *observed, pod *corev1.Pod, step plan.Step) (result, error) {
	target := o.history.byHash(step.Revision)
	change := o.changes[plan.Route{From: revision.ShortHash(pod.Labels[wire.LabelRevision]), To: revision.ShortHash(target.Name)}]
	progress, err := r.Engine.Start(ctx, pod, change, inplace.Target{
		Revision: target.Name, Labels: r.revisionLabels(target.Name), State: step.State,
	})
	if errors.Is(err, inplace.ErrNotInPlace) && o.Policy == plan.InPlaceIfPossible {
		// The revisions allow it but this pod does not: an adopted one without the readiness gate.
		step.Reason = err.Error()
		return r.markForRecreate(ctx, set, pod, step)
	}
	if err != nil {
		if !apierrors.IsConflict(err) {
			r.eventUpdateFailed(set, pod, err)
		}
		return result{changed: progress.Wrote}, fmt.Errorf("updating pod %s in place: %w", pod.Name, err)
	}
	r.eventUpdated(set, pod, target.Name)
	return result{changed: true, nextLook: progress.RequeueAfter}, nil
}

// refresh lets the engine go on with a pod; the state that follows goes with the engine's own write.
func (r *Reconciler) refresh(ctx context.Context, pod *corev1.Pod, step plan.Step) (result, error) {
	progress, err := r.Engine.Refresh(ctx, pod, step.State)
	if err != nil {
		return result{changed: progress.Wrote}, fmt.Errorf("going on with the in-place update of pod %s: %w", pod.Name, err)
	}
	if step.NotReady != nil {
		err = r.holdNotReady(ctx, progress.Pod, wire.ReadinessKeyPreUpdate, *step.NotReady)
	}
	return result{changed: progress.Wrote, nextLook: progress.RequeueAfter}, err
}

// setState writes a lifecycle state. A readiness key goes before the state that needs it and after the
// state that frees it, so that a pod cut off in between is held rather than let go (LC-19).
func (r *Reconciler) setState(ctx context.Context, set *appsv1beta1.CloneSet, pod *corev1.Pod, step plan.Step) (result, error) {
	if step.NotReady != nil && *step.NotReady {
		if err := r.holdNotReady(ctx, pod, keyOf(step.State), true); err != nil {
			return result{}, err
		}
	}
	if err := r.patchState(ctx, set, pod, step); err != nil {
		return result{}, err
	}
	if step.NotReady != nil && !*step.NotReady {
		return result{changed: true}, r.holdNotReady(ctx, pod, wire.ReadinessKeyPreUpdate, false)
	}
	return result{changed: true}, nil
}

func keyOf(state wire.LifecycleState) wire.ReadinessKey {
	if state == wire.LifecyclePreparingDelete {
		return wire.ReadinessKeyPreDelete
	}
	return wire.ReadinessKeyPreUpdate
}

// patchState writes the state, its time and, when the pod is prepared anew, the hook's handlers in one
// patch (LC-12, LC-18).
func (r *Reconciler) patchState(ctx context.Context, set *appsv1beta1.CloneSet, pod *corev1.Pod, step plan.Step) error {
	after := pod.DeepCopy()
	podstate.SetLifecycle(after, step.State, r.Clock.Now())
	if step.PutHooksBack {
		lifecycle.PutOn(set.Spec.Lifecycle.InPlaceUpdate, after)
	}
	if err := r.Client.Patch(ctx, after, client.StrategicMergeFrom(pod)); err != nil {
		return fmt.Errorf("writing state %s to pod %s: %w", step.State, pod.Name, err)
	}
	return nil
}

// holdNotReady adds a readiness key to the pod or removes it.
func (r *Reconciler) holdNotReady(ctx context.Context, pod *corev1.Pod, key wire.ReadinessKey, hold bool) error {
	after := pod.DeepCopy()
	change := readiness.RemoveKey
	if hold {
		change = readiness.AddKey
	}
	changed, err := change(after, key, r.Clock.Now())
	if err != nil || !changed {
		return err
	}
	if err := r.Client.Status().Patch(ctx, after, readiness.StatusPatch(pod)); err != nil {
		return fmt.Errorf("writing condition %s of pod %s: %w", wire.KruisePodReady, pod.Name, err)
	}
	return nil
}

// patchLabels sets labels and nothing else, whatever else was written meanwhile.
func (r *Reconciler) patchLabels(ctx context.Context, pod *corev1.Pod, labels map[string]string) error {
	raw, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels}})
	if err != nil {
		return fmt.Errorf("encoding labels of pod %s: %w", pod.Name, err)
	}
	if err := r.Client.Patch(ctx, pod.DeepCopy(), client.RawPatch(types.MergePatchType, raw)); err != nil {
		return fmt.Errorf("labelling pod %s: %w", pod.Name, err)
	}
	return nil
}
