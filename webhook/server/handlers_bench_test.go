package server

import (
	"path/filepath"
	"testing"

	requestv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/flotilla-k8s/flotilla/shared/gates"
)

// BenchmarkHandlers measures the own time of a request, without HTTP: KP-17 allows 10 ms for a pod.
func BenchmarkHandlers(b *testing.B) {
	all, err := enabled([]string{"workloads"}, Deps{Gates: gates.Default(), Namespace: "flotilla-system"})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, path, input, version, kind string }{
		{"pod", mutatePodPath, "pod-of-cloneset", "v1", "Pod"},
		{"default v1beta1", mutateCloneSetPath, "beta-everything", "v1beta1", "CloneSet"},
		{"default v1alpha1", mutateCloneSetPath, "alpha-in-place", "v1alpha1", "CloneSet"},
		{"validate v1beta1", validateCloneSetPath, "beta-minimal", "v1beta1", "CloneSet"},
	} {
		b.Run(c.name, func(b *testing.B) {
			raw := readJSON(b, filepath.Join("testdata", "TestPatches", c.input+".yaml"))
			req := admission.Request{AdmissionRequest: requestv1.AdmissionRequest{
				Operation: requestv1.Create,
				Kind:      metav1.GroupVersionKind{Version: c.version, Kind: c.kind},
				Object:    runtime.RawExtension{Raw: raw},
			}}
			b.ReportAllocs()
			for b.Loop() {
				if response := all.handlers[c.path].Handle(b.Context(), req); !response.Allowed {
					b.Fatal(response.Result)
				}
			}
		})
	}
}
