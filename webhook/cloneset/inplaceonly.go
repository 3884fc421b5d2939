package cloneset

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/gates"
	"github.com/flotilla-k8s/flotilla/shared/inplace"
	"github.com/flotilla-k8s/flotilla/shared/revision"
)

// inPlaceOnlyErrors implements CS-43 for both versions (C-4): under InPlaceOnly a template may change
// only as running pods can follow. The engine decides, which the controller asks as well, so that both
// judge the step from the stored template alike (C-5).
func inPlaceOnlyErrors(set, old *v1beta1.CloneSet, g gates.Set) field.ErrorList {
	if !isInPlaceOnly(set.Spec.UpdateStrategy) || apiequality.Semantic.DeepEqual(set.Spec.Template, old.Spec.Template) {
		return nil
	}
	path := field.NewPath("spec", "template", "spec")
	refusal, err := inPlaceRefusal(set, &old.Spec.Template, g)
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	if refusal == "" {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "InPlaceOnly allows what running pods can take: "+refusal)}
}

func isInPlaceOnly(strategy v1beta1.CloneSetUpdateStrategy) bool {
	return strategy.Type != v1beta1.OnDeleteCloneSetUpdateStrategyType && strategy.RollingUpdate != nil &&
		strategy.RollingUpdate.PodUpdatePolicy == v1beta1.InPlaceOnlyPodUpdateStrategyType
}

// inPlaceRefusal returns why pods of the old template cannot become pods of the one in set, or "".
func inPlaceRefusal(set *v1beta1.CloneSet, old *corev1.PodTemplateSpec, g gates.Set) (string, error) {
	// InPlaceOnly takes a change of claims for new pods only, as the controller does (IP-18).
	opts := inplace.Options{IgnoreVCTHash: true, Gates: inplace.Gates{
		EnvFromMetadata: g.Enabled(gates.InPlaceUpdateEnvFromMetadata),
		VerticalScaling: g.Enabled(gates.InPlaceWorkloadVerticalScaling),
	}}
	params := revision.Params{Owner: set, OwnerGVK: v1beta1.GroupVersion.WithKind("CloneSet"), Template: old}
	from, err := revision.New(params)
	if err != nil {
		return "", fmt.Errorf("making the revision of the stored template: %w", err)
	}
	params.Template = &set.Spec.Template
	to, err := revision.New(params)
	if err != nil {
		return "", fmt.Errorf("making the revision of the template: %w", err)
	}
	_, refusal, err := inplace.Compute(from, to, opts)
	if err != nil {
		return "", fmt.Errorf("comparing templates: %w", err)
	}
	return refusal, nil
}
