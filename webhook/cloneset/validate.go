package cloneset

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/gates"
)

// World is what a CloneSet is judged by besides itself.
type World struct {
	Gates gates.Set
	// AllowPrivileged accepts privileged containers.
	AllowPrivileged bool
	// ForeignPods are those of PodsToJudge that exist and are not controlled by the CloneSet.
	ForeignPods sets.Set[string]
}

// Validate returns what is wrong with set, naming each field and what is allowed there. old is the
// object as stored, nil on create. A fault that old already has does not stand in the way of an update
// of something else: objects stored by the reference may break rules that it did not have (WH-154).
// Source: CS-29 to CS-43 and the right behaviour of C-1 to C-5, C-13, C-30.
func Validate(set, old *v1beta1.CloneSet, w World) field.ErrorList {
	errs := objectErrors(set, old, w)
	if old == nil {
		return append(errs, podsToDeleteOwnership(set, w.ForeignPods)...)
	}
	if len(errs) > 0 {
		errs = subtract(errs, objectErrors(old, old, w))
	}
	errs = append(errs, podsToDeleteOwnership(set, w.ForeignPods)...)
	return append(errs, updateErrors(set, old, w.Gates)...)
}

// objectErrors judges set by itself; old only keeps what the API server tolerates in stored templates.
func objectErrors(set, old *v1beta1.CloneSet, w World) field.ErrorList {
	spec := field.NewPath("spec")
	errs := apivalidation.ValidateObjectMeta(&set.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	errs = append(errs, nonNegative(set.Spec.Replicas, spec.Child("replicas"))...)
	errs = append(errs, nonNegative(set.Spec.RevisionHistoryLimit, spec.Child("revisionHistoryLimit"))...)
	errs = append(errs, nonNegative(&set.Spec.MinReadySeconds, spec.Child("minReadySeconds"))...)
	errs = append(errs, selectorErrors(set.Spec.Selector, set.Spec.Template.Labels, spec)...)
	errs = append(errs, templateErrors(set, old, w, spec)...)
	errs = append(errs, progressDeadlineErrors(&set.Spec, spec)...)
	errs = append(errs, lifecycleErrors(set.Spec.Lifecycle, spec.Child("lifecycle"))...)
	errs = append(errs, scaleStrategyErrors(&set.Spec.ScaleStrategy, spec.Child("scaleStrategy"))...)
	return append(errs, updateStrategyErrors(&set.Spec, spec.Child("updateStrategy"))...)
}

// updateErrors judges the step from old to set.
func updateErrors(set, old *v1beta1.CloneSet, g gates.Set) field.ErrorList {
	errs := inPlaceOnlyErrors(set, old, g)
	if !apiequality.Semantic.DeepEqual(set.Spec.Selector, old.Spec.Selector) {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "selector"), "must not be changed after creation"))
	}
	return errs
}

// subtract returns the errors that are not, word for word, among stored.
func subtract(errs, stored field.ErrorList) field.ErrorList {
	known := sets.New[string]()
	for _, err := range stored {
		known.Insert(err.Error())
	}
	var rest field.ErrorList
	for _, err := range errs {
		if !known.Has(err.Error()) {
			rest = append(rest, err)
		}
	}
	return rest
}

// selectorErrors implements the second half of CS-30.
func selectorErrors(selector *metav1.LabelSelector, templateLabels labels.Set, spec *field.Path) field.ErrorList {
	path := spec.Child("selector")
	if selector == nil {
		return field.ErrorList{field.Required(path, "must select the labels of spec.template")}
	}
	if len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		return field.ErrorList{field.Required(path, "must have matchLabels or matchExpressions; an empty selector would select every pod")}
	}
	errs := metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path)
	if len(errs) > 0 {
		return errs
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return field.ErrorList{field.Invalid(path, selector, err.Error())}
	}
	if !parsed.Matches(templateLabels) {
		labelsPath := spec.Child("template", "metadata", "labels")
		return field.ErrorList{field.Invalid(labelsPath, templateLabels, "must match spec.selector "+parsed.String())}
	}
	return nil
}

// nonNegative refuses a negative number; absent is fine.
func nonNegative(n *int32, path *field.Path) field.ErrorList {
	if n == nil || *n >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *n, "must be 0 or more")}
}
