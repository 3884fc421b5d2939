package cloneset_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/webhook/cloneset"
)

func TestAlphaErrors(t *testing.T) {
	for hub, want := range map[string]string{
		"spec.updateStrategy.rollingUpdate.partition":                                        "spec.updateStrategy.partition",
		"spec.updateStrategy.rollingUpdate.podUpdatePolicy":                                  "spec.updateStrategy.type",
		"spec.updateStrategy.rollingUpdate.priorityStrategy.weightPriority[0].matchSelector": "spec.updateStrategy.priorityStrategy.weightPriority[0].matchSelector",
		"spec.selector": "spec.selector",
	} {
		got := cloneset.AlphaErrors(field.ErrorList{{Field: hub}})
		if got[0].Field != want {
			t.Errorf("%s is named %s, want %s", hub, got[0].Field, want)
		}
	}
}

func TestAlphaAnnotationErrors(t *testing.T) {
	bad := map[string]string{
		wire.AnnotationImagePreDownloadParallelism:         "50%",
		wire.AnnotationImagePreDownloadTimeoutSeconds:      "soon",
		wire.AnnotationImagePreDownloadMinUpdatedReadyPods: "-1",
	}
	want := []string{
		"metadata.annotations[apps.kruise.io/image-predownload-parallelism]: Invalid value",
		"metadata.annotations[apps.kruise.io/image-predownload-timeout-seconds]: Invalid value",
		"metadata.annotations[apps.kruise.io/image-predownload-min-updated-ready-pods]: Invalid value",
	}
	if diff := cmp.Diff(want, fields(cloneset.AlphaAnnotationErrors(bad, nil))); diff != "" {
		t.Errorf("CS-47: %s", diff)
	}
	if errs := cloneset.AlphaAnnotationErrors(bad, bad); len(errs) > 0 {
		t.Errorf("WH-131: what is stored is refused: %v", errs)
	}
	good := map[string]string{
		wire.AnnotationImagePreDownloadParallelism:    "3",
		wire.AnnotationImagePreDownloadTimeoutSeconds: "600",
	}
	if errs := cloneset.AlphaAnnotationErrors(good, nil); len(errs) > 0 {
		t.Errorf("CS-41: %v", errs)
	}
}
