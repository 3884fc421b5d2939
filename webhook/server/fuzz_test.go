package server

import (
	"encoding/json"
	"path/filepath"
	"testing"

	requestv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/flotilla-k8s/flotilla/shared/gates"
)

// FuzzCloneSet sends arbitrary objects through both handlers, as create and as update of themselves:
// nothing panics, a patch can be applied, and what it leads to is not patched again (WH-97).
func FuzzCloneSet(f *testing.F) {
	inputs, err := filepath.Glob(filepath.Join("testdata", "TestPatches", "*.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	for _, input := range inputs {
		f.Add(readJSON(f, input))
	}
	f.Add([]byte(`{"apiVersion":"apps.kruise.io/v1alpha1","kind":"CloneSet","spec":{"updateStrategy":null,"template":{"spec":{"containers":[null]}}}}`))
	family := workloads(Deps{Gates: gates.Default()})
	request := func(operation requestv1.Operation, raw []byte) admission.Request {
		var meta metav1.TypeMeta
		if json.Unmarshal(raw, &meta) != nil {
			return admission.Request{}
		}
		version := meta.GroupVersionKind().Version
		return admission.Request{AdmissionRequest: requestv1.AdmissionRequest{
			Operation: operation,
			Kind:      metav1.GroupVersionKind{Group: "apps.kruise.io", Version: version, Kind: "CloneSet"},
			Object:    runtime.RawExtension{Raw: raw},
			OldObject: runtime.RawExtension{Raw: raw},
		}}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, operation := range []requestv1.Operation{requestv1.Create, requestv1.Update} {
			response := family.handlers[mutateCloneSetPath].Handle(t.Context(), request(operation, raw))
			if len(response.Patches) == 0 {
				continue
			}
			patch, err := json.Marshal(response.Patches)
			if err != nil {
				t.Fatal(err)
			}
			patched := applyPatch(t, raw, patch)
			again := family.handlers[mutateCloneSetPath].Handle(t.Context(), request(operation, patched))
			if !again.Allowed || operation == requestv1.Create && len(again.Patches) > 0 {
				t.Fatalf("%s: patched object is answered with %v", operation, again)
			}
		}
		update := request(requestv1.Update, raw)
		if response := family.handlers[validateCloneSetPath].Handle(t.Context(), update); !response.Allowed && response.Result == nil {
			t.Fatal("refused without a reason")
		}
	})
}
