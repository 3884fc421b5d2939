package cloneset

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// claims are the volume claims a set owns and the instance ids that are spoken for.
type claims struct {
	byInstance map[string][]*corev1.PersistentVolumeClaim
	// taken are ids of pods, in whatever state, and of claims; free are ids of claims that no pod
	// uses, in order, for reuse.
	taken sets.Set[string]
	free  []string
	// awaited counts terminating pods whose claims are to be reused: the replacement comes under the
	// same name, so it has to wait until they are gone.
	awaited int
}

// observeClaims reads the claims of a set. The ids of all its pods are in use, those of terminating and
// failed ones too, since their names are (C-15).
func (r *Reconciler) observeClaims(ctx context.Context, set *appsv1beta1.CloneSet, pods []corev1.Pod) (claims, error) {
	c := claims{byInstance: map[string][]*corev1.PersistentVolumeClaim{}, taken: sets.New[string]()}
	busy := map[string]*corev1.Pod{}
	for i := range pods {
		id := pods[i].Labels[wire.LabelCloneSetInstanceID]
		busy[id] = &pods[i]
		c.taken.Insert(id)
	}
	var list corev1.PersistentVolumeClaimList
	if err := r.Client.List(ctx, &list, ownedBy(set)...); err != nil {
		return c, fmt.Errorf("listing claims: %w", err)
	}
	for i := range list.Items {
		claim := &list.Items[i]
		id := claim.Labels[wire.LabelCloneSetInstanceID]
		if id == "" || claim.DeletionTimestamp != nil {
			continue
		}
		c.byInstance[id] = append(c.byInstance[id], claim)
		c.taken.Insert(id)
	}
	if set.Spec.ScaleStrategy.EnablePVCReuse {
		for _, id := range slices.Sorted(maps.Keys(c.byInstance)) {
			switch pod := busy[id]; {
			case pod == nil:
				c.free = append(c.free, id)
			case pod.DeletionTimestamp != nil:
				c.awaited++
			}
		}
	}
	return c, nil
}

// newClaims makes the claims of the pod with this id (CS-95).
func newClaims(set *appsv1beta1.CloneSet, id string) []*corev1.PersistentVolumeClaim {
	out := make([]*corev1.PersistentVolumeClaim, 0, len(set.Spec.VolumeClaimTemplates))
	for i := range set.Spec.VolumeClaimTemplates {
		template := &set.Spec.VolumeClaimTemplates[i]
		claim := &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{
				Name:            claimName(template.Name, set, id),
				Namespace:       set.Namespace,
				Labels:          map[string]string{},
				Annotations:     maps.Clone(template.Annotations),
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, kind())},
			},
			Spec: *template.Spec.DeepCopy(),
		}
		maps.Copy(claim.Labels, template.Labels)
		maps.Copy(claim.Labels, set.Spec.Selector.MatchLabels)
		claim.Labels[wire.LabelCloneSetInstanceID] = id
		out = append(out, claim)
	}
	return out
}

func claimName(template string, set *appsv1beta1.CloneSet, id string) string {
	return fmt.Sprintf("%s-%s-%s", template, set.Name, id)
}

// deleteClaims deletes what belongs to one pod (CS-98).
func (r *Reconciler) deleteClaims(ctx context.Context, owned []*corev1.PersistentVolumeClaim) error {
	for _, claim := range owned {
		if err := r.Client.Delete(ctx, claim); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting claim %s: %w", claim.Name, err)
		}
	}
	return nil
}
