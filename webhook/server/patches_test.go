package server

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	requestv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"github.com/flotilla-k8s/flotilla/shared/gates"
)

// TestPatches sends each object of testdata as a create request, and compares the patch with the golden
// file beside it.
func TestPatches(t *testing.T) {
	deps := Deps{Gates: gates.Default(), Namespace: "flotilla-system"}
	inputs, err := filepath.Glob(filepath.Join("testdata", t.Name(), "*.yaml"))
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no input: %v", err)
	}
	for _, input := range inputs {
		name := strings.TrimSuffix(filepath.Base(input), ".yaml")
		if strings.HasSuffix(name, ".patch") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			raw := readJSON(t, input)
			patch := patchOf(t, deps, raw)
			compareGolden(t, strings.TrimSuffix(input, ".yaml")+".patch.yaml", patch)

			patched := applyPatch(t, raw, patch)
			if again := patchOf(t, deps, patched); string(again) != "null" {
				t.Errorf("WH-97: patched again: %s", again)
			}
		})
	}
}

// patchOf returns the patch that the service answers to the creation of an object.
func patchOf(tb testing.TB, deps Deps, raw []byte) []byte {
	tb.Helper()
	response := mutate(tb, deps, raw)
	if !response.Allowed {
		tb.Fatalf("refused: %v", response.Result)
	}
	patch, err := json.Marshal(response.Patches)
	if err != nil {
		tb.Fatal(err)
	}
	return patch
}

func mutate(tb testing.TB, deps Deps, raw []byte) admission.Response {
	tb.Helper()
	var object unstructured.Unstructured
	if err := json.Unmarshal(raw, &object.Object); err != nil {
		tb.Fatal(err)
	}
	kind := object.GroupVersionKind()
	path := mutateCloneSetPath
	if kind.Kind == "Pod" {
		path = mutatePodPath
	}
	all, err := enabled([]string{"workloads"}, deps)
	if err != nil {
		tb.Fatal(err)
	}
	return all.handlers[path].Handle(tb.Context(), admission.Request{AdmissionRequest: requestv1.AdmissionRequest{
		Operation: requestv1.Create,
		Kind:      metav1.GroupVersionKind{Group: kind.Group, Version: kind.Version, Kind: kind.Kind},
		Name:      object.GetName(),
		Namespace: object.GetNamespace(),
		Object:    runtime.RawExtension{Raw: raw},
	}})
}

func applyPatch(tb testing.TB, raw, patch []byte) []byte {
	tb.Helper()
	if string(patch) == "null" {
		return raw
	}
	decoded, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		tb.Fatal(err)
	}
	patched, err := decoded.Apply(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return patched
}

func readJSON(tb testing.TB, path string) []byte {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	raw, err := yaml.YAMLToJSON(text)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func compareGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	text, err := yaml.JSONToYAML(got)
	if err != nil {
		t.Fatal(err)
	}
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("%s: %s", path, diff)
	}
}
