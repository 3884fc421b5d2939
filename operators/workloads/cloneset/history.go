package cloneset

import (
	"context"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/revision"
)

// defaultHistoryLimit is kept by sets that were never defaulted (CS-24).
const defaultHistoryLimit = 10

// history is the revisions of a set, oldest first, with the stable and the wanted one picked out.
type history struct {
	all             []*appsv1.ControllerRevision
	current, update *appsv1.ControllerRevision
	collisions      int32
}

// byHash finds a revision by full name or short hash; nil if it is gone.
func (h *history) byHash(name string) *appsv1.ControllerRevision {
	for _, r := range h.all {
		if revision.ShortHash(r.Name) == revision.ShortHash(name) {
			return r
		}
	}
	return nil
}

// syncHistory makes sure that the template has a revision and that it is the newest (RV-5 to RV-9).
func (r *Reconciler) syncHistory(ctx context.Context, set *appsv1beta1.CloneSet) (*history, error) {
	all, err := r.listRevisions(ctx, set)
	if err != nil {
		return nil, err
	}
	h := &history{all: all, collisions: ptr.Deref(set.Status.CollisionCount, 0)}
	next := int64(1)
	if len(all) > 0 {
		next = all[len(all)-1].Revision + 1
	}
	wanted, err := r.newRevision(set, next, h.collisions)
	if err != nil {
		return nil, err
	}
	choice := revision.Choose(all, wanted)
	switch {
	case set.DeletionTimestamp != nil && (choice.Create || choice.Renumber):
		// Nothing is rolled out any more, so nothing is written: the newest revision stands in.
		choice.Update = wanted
		if len(all) > 0 {
			choice.Update = all[len(all)-1]
		}
	case choice.Create:
		if choice.Update, err = r.createRevision(ctx, set, h, next); err != nil {
			return nil, err
		}
		h.all = append(h.all, choice.Update)
	case choice.Renumber:
		if err := r.renumber(ctx, choice.Update); err != nil {
			return nil, err
		}
	}
	h.update = choice.Update
	if h.current = h.byName(set.Status.CurrentRevision); h.current == nil {
		h.current = h.update
	}
	return h, nil
}

func (h *history) byName(name string) *appsv1.ControllerRevision {
	for _, r := range h.all {
		if r.Name == name {
			return r
		}
	}
	return nil
}

func (r *Reconciler) listRevisions(ctx context.Context, set *appsv1beta1.CloneSet) ([]*appsv1.ControllerRevision, error) {
	var list appsv1.ControllerRevisionList
	if err := r.Client.List(ctx, &list, ownedBy(set)...); err != nil {
		return nil, fmt.Errorf("listing revisions: %w", err)
	}
	all := make([]*appsv1.ControllerRevision, 0, len(list.Items))
	for i := range list.Items {
		all = append(all, &list.Items[i])
	}
	revision.Sort(all)
	return all, nil
}

// newRevision makes the revision of the template. It carries the annotations of the set (CS-22), but for
// what belongs to the set's own versions, and the hash of the claims (RV-14).
func (r *Reconciler) newRevision(set *appsv1beta1.CloneSet, number int64, collisions int32) (*appsv1.ControllerRevision, error) {
	claims, err := revision.VCTHash(set.Spec.VolumeClaimTemplates)
	if err != nil {
		return nil, fmt.Errorf("hashing the claim templates: %w", err)
	}
	annotations := map[string]string{}
	maps.Copy(annotations, set.Annotations)
	delete(annotations, wire.AnnotationOtherVersion)
	annotations[wire.AnnotationVCTHash] = claims
	rev, err := revision.New(revision.Params{
		Owner: set, OwnerGVK: kind(), Template: &set.Spec.Template,
		Revision: number, CollisionCount: collisions, Annotations: annotations,
	})
	if err != nil {
		return nil, fmt.Errorf("making the revision of the template: %w", err)
	}
	return rev, nil
}

// createRevision creates the revision of the template under a name that is free. A name that is taken
// by the same data is an earlier pass's own creation; by other data, a collision of hashes (RV-8).
func (r *Reconciler) createRevision(ctx context.Context, set *appsv1beta1.CloneSet, h *history, number int64) (*appsv1.ControllerRevision, error) {
	for {
		rev, err := r.newRevision(set, number, h.collisions)
		if err != nil {
			return nil, err
		}
		err = r.Client.Create(ctx, rev)
		if err == nil {
			return rev, nil
		}
		if !apierrors.IsAlreadyExists(err) {
			return nil, fmt.Errorf("creating revision %s: %w", rev.Name, err)
		}
		existing := &appsv1.ControllerRevision{}
		if err := r.Reader.Get(ctx, client.ObjectKeyFromObject(rev), existing); err != nil {
			return nil, fmt.Errorf("reading revision %s: %w", rev.Name, err)
		}
		if metav1.IsControlledBy(existing, set) && revision.Equal(existing, rev) {
			return existing, nil
		}
		h.collisions++
	}
}

// renumber moves an older revision to the end of the history: a rollback (RV-7).
func (r *Reconciler) renumber(ctx context.Context, rev *appsv1.ControllerRevision) error {
	before := &appsv1.ControllerRevision{}
	if err := r.Client.Get(ctx, client.ObjectKeyFromObject(rev), before); err != nil {
		return fmt.Errorf("reading revision %s: %w", rev.Name, err)
	}
	after := before.DeepCopy()
	after.Revision, after.Annotations = rev.Revision, rev.Annotations
	if err := r.Client.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("moving revision %s to the end of the history: %w", rev.Name, err)
	}
	return nil
}

// truncateHistory deletes the oldest revisions that nothing uses (RV-10).
func (r *Reconciler) truncateHistory(ctx context.Context, set *appsv1beta1.CloneSet, h *history, inUse []string) error {
	live := sets.New(h.current.Name, h.update.Name)
	for _, name := range inUse {
		if rev := h.byHash(name); rev != nil {
			live.Insert(rev.Name)
		}
	}
	limit := max(int(ptr.Deref(set.Spec.RevisionHistoryLimit, defaultHistoryLimit)), 0)
	for _, rev := range revision.Truncate(h.all, live, limit) {
		if err := r.Client.Delete(ctx, rev); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting revision %s: %w", rev.Name, err)
		}
	}
	return nil
}
