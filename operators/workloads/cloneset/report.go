package cloneset

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/operators/workloads/cloneset/plan"
	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/patch"
)

// report writes the status if it changed (CS-132, CS-133), shortens podsToDelete (CS-87) and truncates
// the history (RV-10). It returns when a deadline needs another look.
func (r *Reconciler) report(ctx context.Context, set *appsv1beta1.CloneSet, o *observed, p plan.Plan, out outcome) (time.Duration, error) {
	status, deadline := r.newStatus(set, o, p, out)
	if err := r.writeStatus(ctx, set, status); err != nil {
		return 0, err
	}
	if o.Deleting {
		return 0, nil
	}
	inUse := make([]string, 0, len(o.Pods))
	for i := range o.Pods {
		inUse = append(inUse, o.Pods[i].Revision)
	}
	return deadline, errors.Join(r.shortenPodsToDelete(ctx, set, o), r.truncateHistory(ctx, set, o.history, inUse))
}

// newStatus computes the status from what was observed and what became of the plan.
func (r *Reconciler) newStatus(set *appsv1beta1.CloneSet, o *observed, p plan.Plan, out outcome) (appsv1beta1.CloneSetStatus, time.Duration) {
	s := plan.Summarize(&o.World)
	status := *set.Status.DeepCopy()
	status.ObservedGeneration = set.Generation
	status.Replicas, status.ReadyReplicas, status.AvailableReplicas = s.Replicas, s.Ready, s.Available
	status.UpdatedReplicas, status.UpdatedReadyReplicas, status.UpdatedAvailableReplicas = s.Updated, s.UpdatedReady, s.UpdatedAvailable
	status.ExpectedUpdatedReplicas = s.ExpectedUpdated
	status.CurrentRevision, status.UpdateRevision = s.CurrentRevision, s.UpdateRevision
	status.CollisionCount = new(o.history.collisions)
	status.LabelSelector = metav1.FormatLabelSelector(set.Spec.Selector)

	c := conditions{list: status.Conditions, now: metav1.NewTime(o.Now)}
	c.failed(appsv1beta1.CloneSetConditionFailedScale, out.failed[plan.PhaseScale])
	c.failed(appsv1beta1.CloneSetConditionFailedUpdate, out.failed[plan.PhaseUpdate])
	next := r.progress(set, o, s, &status, &c)
	c.outlook(p.Outlook(&o.World))
	status.Conditions = c.list
	return status, next
}

// progress sets condition Progressing where a deadline is given, and removes it elsewhere (16.2).
func (r *Reconciler) progress(set *appsv1beta1.CloneSet, o *observed, s plan.Summary, status *appsv1beta1.CloneSetStatus, c *conditions) time.Duration {
	const kind = appsv1beta1.CloneSetConditionTypeProgressing
	seconds := ptr.Deref(set.Spec.ProgressDeadlineSeconds, math.MaxInt32)
	if seconds == math.MaxInt32 {
		c.remove(kind)
		return 0
	}
	var before *plan.Progress
	if old := c.get(kind); old != nil {
		before = &plan.Progress{Reason: old.Reason, Since: old.LastUpdateTime.Time}
	}
	newRevision := set.Status.UpdateRevision != s.UpdateRevision
	after, next := plan.Progressed(&o.World, s, before, plan.Moved{Numbers: moved(&set.Status, status), Revision: newRevision},
		time.Duration(seconds)*time.Second)
	state := corev1.ConditionTrue
	if after.Failed() {
		state = corev1.ConditionFalse
	}
	c.set(appsv1beta1.CloneSetCondition{Type: kind, Status: state, Reason: after.Reason, Message: after.Message,
		LastUpdateTime: metav1.NewTime(after.Since)})
	return next
}

// moved tells whether the roll-out came forward: a count that the deadline watches changed (C-12).
func moved(before, after *appsv1beta1.CloneSetStatus) bool {
	return after.UpdatedReplicas != before.UpdatedReplicas ||
		after.UpdatedReadyReplicas > before.UpdatedReadyReplicas ||
		after.UpdatedAvailableReplicas > before.UpdatedAvailableReplicas ||
		after.AvailableReplicas > before.AvailableReplicas ||
		after.Replicas != before.Replicas ||
		after.ExpectedUpdatedReplicas != before.ExpectedUpdatedReplicas
}

func (r *Reconciler) writeStatus(ctx context.Context, set *appsv1beta1.CloneSet, status appsv1beta1.CloneSetStatus) error {
	after := set.DeepCopy()
	after.Status = status
	_, err := patch.Status(ctx, r.Client, set, after)
	return err
}

// shortenPodsToDelete takes names out of the spec that are no active pods any more (CS-87).
func (r *Reconciler) shortenPodsToDelete(ctx context.Context, set *appsv1beta1.CloneSet, o *observed) error {
	var left []string
	for _, name := range set.Spec.ScaleStrategy.PodsToDelete {
		if o.pods[name] != nil {
			left = append(left, name)
		}
	}
	if len(left) == len(set.Spec.ScaleStrategy.PodsToDelete) {
		return nil
	}
	after := set.DeepCopy()
	after.Spec.ScaleStrategy.PodsToDelete = left
	// The status just written moved the version on; what is patched here is the one field.
	if err := r.Client.Patch(ctx, after, client.MergeFrom(set)); err != nil {
		return fmt.Errorf("shortening spec.scaleStrategy.podsToDelete: %w", err)
	}
	return nil
}
