package cloneset

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// AlphaErrors returns errors about the hub in the words of v1alpha1: a user who sent v1alpha1 finds the
// fields that the messages name.
func AlphaErrors(errs field.ErrorList) field.ErrorList {
	for _, err := range errs {
		err.Field = alphaField(err.Field)
	}
	return errs
}

func alphaField(path string) string {
	const rolling = "spec.updateStrategy.rollingUpdate."
	rest, isRolling := strings.CutPrefix(path, rolling)
	switch {
	case !isRolling:
		return path
	case rest == "podUpdatePolicy":
		return "spec.updateStrategy.type"
	default:
		return "spec.updateStrategy." + rest
	}
}

// AlphaAnnotationErrors judges the annotations by which v1alpha1 sets up image pre-download, by the
// rules of the fields that they become (CS-41, CS-47). old holds the annotations as stored, nil on create;
// what it already has passes.
func AlphaAnnotationErrors(annotations, old map[string]string) field.ErrorList {
	var errs field.ErrorList
	judge := func(key string, ok func(string) bool) {
		text := annotations[key]
		if text == "" || text == old[key] || ok(text) {
			return
		}
		errs = append(errs, field.Invalid(field.NewPath("metadata", "annotations").Key(key), text, "must be a whole number, 0 or more"))
	}
	judge(wire.AnnotationImagePreDownloadParallelism, func(text string) bool { return isCount(intstr.FromString(text)) })
	judge(wire.AnnotationImagePreDownloadTimeoutSeconds, isInt32)
	judge(wire.AnnotationImagePreDownloadMinUpdatedReadyPods, isInt32)
	return errs
}

func isInt32(text string) bool {
	n, err := strconv.ParseInt(text, 10, 32)
	return err == nil && n >= 0
}
