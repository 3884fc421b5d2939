package server

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	requestv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/flotilla-k8s/flotilla/shared/gates"
)

// FuzzCloneSet sends arbitrary bytes, TestCloneSetOfAnyShape the inputs of the golden files with parts
// replaced by others.
func FuzzCloneSet(f *testing.F) {
	for _, raw := range goldenInputs(f) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) { answersAnything(t, raw) })
}

func TestCloneSetOfAnyShape(t *testing.T) {
	inputs := goldenInputs(t)
	rapid.Check(t, func(rt *rapid.T) {
		var tree any
		if err := json.Unmarshal(rapid.SampledFrom(inputs).Draw(rt, "input"), &tree); err != nil {
			rt.Fatal(err)
		}
		for range rapid.IntRange(1, 3).Draw(rt, "changes") {
			tree = spoil(rt, tree)
		}
		raw, err := json.Marshal(tree)
		if err != nil {
			rt.Fatal(err)
		}
		answersAnything(t, raw)
	})
}

// spoil replaces one node of a JSON tree, chosen at random, by something else.
func spoil(t *rapid.T, node any) any {
	if rapid.IntRange(0, 5).Draw(t, "here") == 0 {
		return rapid.SampledFrom([]any{nil, "", "50%", "x", true, float64(-1), 1.5, 1e12, []any{}, []any{nil}, map[string]any{}}).Draw(t, "other")
	}
	switch inner := node.(type) {
	case map[string]any:
		if len(inner) > 0 {
			key := rapid.SampledFrom(slices.Sorted(maps.Keys(inner))).Draw(t, "key")
			inner[key] = spoil(t, inner[key])
		}
	case []any:
		if len(inner) > 0 {
			i := rapid.IntRange(0, len(inner)-1).Draw(t, "index")
			inner[i] = spoil(t, inner[i])
		}
	}
	return node
}

func goldenInputs(tb testing.TB) [][]byte {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "TestPatches", "*.yaml"))
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no input: %v", err)
	}
	inputs := make([][]byte, len(paths))
	for i, path := range paths {
		inputs[i] = readJSON(tb, path)
	}
	return inputs
}

// answersAnything sends raw through both handlers, as create and as update of itself: nothing panics, a
// patch can be applied, and what it leads to is not patched again (WH-97).
func answersAnything(t *testing.T, raw []byte) {
	t.Helper()
	if json.Unmarshal(raw, &metav1.PartialObjectMetadata{}) != nil {
		return // the API server itself reads this much before it asks anybody
	}
	family := workloads(Deps{Gates: gates.Default()})
	mutate, validate := family.handlers[mutateCloneSetPath], family.handlers[validateCloneSetPath]
	for _, operation := range []requestv1.Operation{requestv1.Create, requestv1.Update} {
		response := mutate.Handle(t.Context(), requestOf(operation, raw))
		if len(response.Patches) == 0 {
			continue
		}
		patch, err := json.Marshal(response.Patches)
		if err != nil {
			t.Fatal(err)
		}
		patched := applyPatch(t, raw, patch)
		again := mutate.Handle(t.Context(), requestOf(operation, patched))
		if !again.Allowed || operation == requestv1.Create && len(again.Patches) > 0 {
			t.Fatalf("%s of %s, then patched to %s, is answered with %v", operation, raw, patched, again)
		}
	}
	if response := validate.Handle(t.Context(), requestOf(requestv1.Update, raw)); !response.Allowed && response.Result == nil {
		t.Fatalf("refused without a reason: %s", raw)
	}
}

func requestOf(operation requestv1.Operation, raw []byte) admission.Request {
	var meta metav1.TypeMeta
	// What is no object has no version either, and is refused for that.
	_ = json.Unmarshal(raw, &meta)
	return admission.Request{AdmissionRequest: requestv1.AdmissionRequest{
		Operation: operation,
		Kind:      metav1.GroupVersionKind{Group: "apps.kruise.io", Version: meta.GroupVersionKind().Version, Kind: "CloneSet"},
		Object:    runtime.RawExtension{Raw: raw},
		OldObject: runtime.RawExtension{Raw: raw},
	}}
}
