package cloneset

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/flotilla-k8s/flotilla/operators/workloads/cloneset/plan"
	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/batch"
)

// outcome is what a pass really did.
type outcome struct {
	// failed holds the error of each phase that ran into one, by phase name.
	failed map[string]error
	// nextLook is when something that was begun needs another look; 0 for never.
	nextLook time.Duration
}

func (o *outcome) look(after time.Duration) {
	if after > 0 && (o.nextLook == 0 || after < o.nextLook) {
		o.nextLook = after
	}
}

// err is the error of the whole pass.
func (o *outcome) err() error {
	return errors.Join(o.failed[plan.PhaseScale], o.failed[plan.PhaseUpdate])
}

// act carries out the phases in order and stops after the first that changed something. Within a phase
// a pod that fails does not hold up the others (P-23).
func (r *Reconciler) act(ctx context.Context, set *appsv1beta1.CloneSet, o *observed, p plan.Plan) outcome {
	out := outcome{failed: map[string]error{}}
	r.announceLimit(set, p)
	for _, phase := range p.Phases {
		changed, err := r.runPhase(ctx, set, o, phase, &out)
		if err != nil {
			out.failed[phase.Name] = errors.Join(out.failed[phase.Name], err)
		}
		if changed {
			break
		}
	}
	if err := r.release(ctx, set, o.strays); err != nil {
		out.failed[plan.PhaseScale] = errors.Join(out.failed[plan.PhaseScale], err)
	}
	return out
}

// result is what one step came to.
type result struct {
	changed  bool
	nextLook time.Duration
}

func (r *Reconciler) runPhase(ctx context.Context, set *appsv1beta1.CloneSet, o *observed, phase plan.Phase, out *outcome) (changed bool, err error) {
	steps := phase.Steps
	results := make([]result, len(steps))
	do := r.stepRunner(ctx, set, o, steps, results)
	var errs []error
	if len(steps) > 0 && steps[0].Action == plan.Create {
		_, errs = batch.SlowStart(len(steps), do)
	} else {
		errs = batch.All(len(steps), do)
	}
	for i := range results {
		changed = changed || results[i].changed
		out.look(results[i].nextLook)
	}
	return changed, joinFew(errs)
}

// stepRunner returns the function that carries out one step by its index. Ids are drawn beforehand, one
// after the other, so that no two pods get the same.
func (r *Reconciler) stepRunner(ctx context.Context, set *appsv1beta1.CloneSet, o *observed, steps []plan.Step, results []result) func(int) error {
	ids := make([]string, len(steps))
	for i := range steps {
		if steps[i].Action == plan.Create {
			ids[i] = r.drawID(&o.claims)
		}
	}
	return func(i int) error {
		step := steps[i]
		var err error
		if step.Action == plan.Create {
			results[i], err = r.createPod(ctx, set, o, step, ids[i])
		} else {
			results[i], err = r.runStep(ctx, set, o, step)
		}
		if apierrors.IsConflict(err) {
			// Nothing was written; the newer version is on its way to the cache.
			results[i].nextLook = conflictDelay
			return nil
		}
		if err == nil && results[i].changed {
			logf.FromContext(ctx).V(2).Info("Carried out a step", "action", step.Action, "pod", step.Pod,
				"revision", step.Revision, "state", step.State, "reason", step.Reason)
		}
		return err
	}
}

// conflictDelay is how long to wait for the cache to catch up with somebody else's write. The event of
// that write usually comes sooner.
const conflictDelay = 200 * time.Millisecond

// joinFew joins errors for a message that a person reads: the first few, and how many more there are.
func joinFew(errs []error) error {
	const few = 3
	var kept []error
	more := 0
	for _, err := range errs {
		switch {
		case err == nil:
		case len(kept) < few:
			kept = append(kept, err)
		default:
			more++
		}
	}
	if more > 0 {
		kept = append(kept, fmt.Errorf("and %d more", more))
	}
	return errors.Join(kept...)
}

// release gives up pods that the set owns but its selector no longer matches (CS-58).
func (r *Reconciler) release(ctx context.Context, set *appsv1beta1.CloneSet, strays []*corev1.Pod) error {
	errs := batch.All(len(strays), func(i int) error {
		pod := strays[i].DeepCopy()
		before := strays[i]
		pod.OwnerReferences = nil
		for _, ref := range before.OwnerReferences {
			if ref.UID != set.UID {
				pod.OwnerReferences = append(pod.OwnerReferences, ref)
			}
		}
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		if err := r.Client.Patch(ctx, pod, patch); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("releasing pod %s: %w", pod.Name, err)
		}
		return nil
	})
	return joinFew(errs)
}
