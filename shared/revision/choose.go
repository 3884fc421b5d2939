package revision

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// Sort orders revisions by number, then creation time, then name, oldest first. Source: RV-5.
func Sort(revisions []*appsv1.ControllerRevision) {
	slices.SortStableFunc(revisions, func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(
			cmp.Compare(a.Revision, b.Revision),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Name, b.Name),
		)
	})
}

// Choice says which revision a workload is to be updated to and how to get it.
type Choice struct {
	// Update is the update revision. It is an existing object as it is, or a changed copy of one if
	// Renumber is true, or a numbered copy of the wanted one if Create is true.
	Update *appsv1.ControllerRevision
	// Create asks to create Update. A name collision with other data asks for a higher count (RV-8).
	Create bool
	// Renumber asks to write the new number, and the volume claim template hash, of Update.
	Renumber bool
}

// Choose finds the revision for a wanted one among those that exist, given in the order of Sort. The
// newest is reused as it is. An older equal one is taken back under the next number, so a rollback
// keeps its name. Source: RV-6, RV-7, RV-15.
func Choose(sorted []*appsv1.ControllerRevision, wanted *appsv1.ControllerRevision) Choice {
	next := int64(1)
	if len(sorted) > 0 {
		next = sorted[len(sorted)-1].Revision + 1
	}
	for i, existing := range slices.Backward(sorted) {
		if !Equal(existing, wanted) {
			continue
		}
		if i == len(sorted)-1 {
			return Choice{Update: existing}
		}
		return Choice{Update: renumber(existing, wanted, next), Renumber: true}
	}
	create := wanted.DeepCopy()
	create.Revision = next
	return Choice{Update: create, Create: true}
}

func renumber(existing, wanted *appsv1.ControllerRevision, number int64) *appsv1.ControllerRevision {
	out := existing.DeepCopy()
	out.Revision = number
	if hash, found := wanted.Annotations[wire.AnnotationVCTHash]; found {
		if out.Annotations == nil {
			out.Annotations = map[string]string{}
		}
		out.Annotations[wire.AnnotationVCTHash] = hash
	}
	return out
}

// Truncate returns the revisions to delete, oldest first: those that are not live, beyond limit of
// them. Live holds the names, full or short, of the current and the update revision and of every
// revision that a pod is labelled with. Sorted is in the order of Sort. Source: RV-10.
func Truncate(sorted []*appsv1.ControllerRevision, live sets.Set[string], limit int) []*appsv1.ControllerRevision {
	short := sets.New[string]()
	for name := range live {
		short.Insert(ShortHash(name))
	}
	var unused []*appsv1.ControllerRevision
	for _, r := range sorted {
		if !short.Has(ShortHash(r.Name)) {
			unused = append(unused, r)
		}
	}
	return unused[:max(0, len(unused)-max(0, limit))]
}
