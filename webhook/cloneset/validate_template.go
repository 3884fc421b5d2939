package cloneset

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/webhook/podtemplate"
)

// templateErrors implements CS-31 and CS-32.
func templateErrors(set, old *v1beta1.CloneSet, w World, spec *field.Path) field.ErrorList {
	path := spec.Child("template")
	claims, errs := claimNames(set, spec.Child("volumeClaimTemplates"))
	var oldTemplate *corev1.PodTemplateSpec
	if old != nil {
		oldTemplate = &old.Spec.Template
	}
	opts := podtemplate.Options{AllowPrivileged: w.AllowPrivileged, Claims: claims}
	errs = append(errs, podtemplate.Validate(&set.Spec.Template, oldTemplate, opts, path)...)

	pod := &set.Spec.Template.Spec
	if pod.RestartPolicy != "" && pod.RestartPolicy != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(path.Child("spec", "restartPolicy"), pod.RestartPolicy,
			[]corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if pod.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(path.Child("spec", "activeDeadlineSeconds"), "pods of a CloneSet run without a deadline"))
	}
	return errs
}

// claimNames returns the names of the claim templates that can serve as names of volumes, and what is
// wrong with the others.
func claimNames(set *v1beta1.CloneSet, path *field.Path) ([]string, field.ErrorList) {
	taken := sets.New[string]()
	for _, volume := range set.Spec.Template.Spec.Volumes {
		taken.Insert(volume.Name)
	}
	var names []string
	var errs field.ErrorList
	for i := range set.Spec.VolumeClaimTemplates {
		name := set.Spec.VolumeClaimTemplates[i].Name
		namePath := path.Index(i).Child("metadata", "name")
		if taken.Has(name) {
			errs = append(errs, field.Duplicate(namePath, name))
			continue
		}
		taken.Insert(name)
		if messages := validation.IsDNS1123Label(name); len(messages) > 0 {
			errs = append(errs, field.Invalid(namePath, name, messages[0]))
			continue
		}
		names = append(names, name)
	}
	return names, errs
}

// progressDeadlineErrors implements CS-40 for both versions (C-4).
func progressDeadlineErrors(spec *v1beta1.CloneSetSpec, path *field.Path) field.ErrorList {
	deadline := spec.ProgressDeadlineSeconds
	if deadline == nil || *deadline == math.MaxInt32 {
		return nil
	}
	path = path.Child("progressDeadlineSeconds")
	if *deadline < 0 {
		return nonNegative(deadline, path)
	}
	if *deadline <= spec.MinReadySeconds {
		return field.ErrorList{field.Invalid(path, *deadline, "must be greater than spec.minReadySeconds")}
	}
	return nil
}
