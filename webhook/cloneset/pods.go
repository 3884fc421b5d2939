package cloneset

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
)

// PodsToJudge returns the names in podsToDelete that old does not have. The caller finds out which of
// them are foreign.
func PodsToJudge(set, old *v1beta1.CloneSet) []string {
	names := set.Spec.ScaleStrategy.PodsToDelete
	if old == nil {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.Contains(old.Spec.ScaleStrategy.PodsToDelete, name)
	})
}

// podsToDeleteOwnership refuses names of pods that belong to somebody else. Names of pods that are gone
// pass: the controller shortens the list, and tools that apply a manifest again bring old names back.
// Source: CS-33 for both versions (C-4), C-21.
func podsToDeleteOwnership(set *v1beta1.CloneSet, foreign sets.Set[string]) field.ErrorList {
	var errs field.ErrorList
	path := field.NewPath("spec", "scaleStrategy", "podsToDelete")
	for i, name := range set.Spec.ScaleStrategy.PodsToDelete {
		if foreign.Has(name) {
			errs = append(errs, field.Invalid(path.Index(i), name, "must be a pod of this CloneSet"))
		}
	}
	return errs
}
