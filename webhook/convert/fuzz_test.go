package convert_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/flotilla-k8s/flotilla/webhook/convert"
)

// FuzzTo converts anything that is JSON and claims to be a CloneSet: it must not panic or fail, alter
// its input, touch status, template or claims, or need more than one trip to settle.
func FuzzTo(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var obj object
		if utiljson.Unmarshal(raw, &obj) != nil || obj == nil {
			t.Skip("no JSON object")
		}
		obj["kind"] = "CloneSet"
		for _, version := range []string{hub, spoke} {
			in := runtime.DeepCopyJSON(obj)
			in["apiVersion"] = version
			once := to(t, in, other(in))
			again := to(t, to(t, once, version), other(in))
			if diff := cmp.Diff(meaning(once), meaning(again)); diff != "" {
				t.Errorf("%s changed on its second trip:\n%s", version, diff)
			}
			if diff := cmp.Diff(untouchable(in), untouchable(once)); diff != "" {
				t.Errorf("WH-131, CS-53: %s lost something:\n%s", version, diff)
			}
		}
	})
}

func untouchable(obj object) object {
	spec := field(obj, "spec")
	return object{"status": obj["status"], "template": spec["template"], "claims": spec["volumeClaimTemplates"]}
}

func seeds(f *testing.F) [][]byte {
	f.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "TestGolden", "*.yaml"))
	if err != nil || len(files) == 0 {
		f.Fatalf("found %d files: %v", len(files), err)
	}
	all := [][]byte{
		[]byte(`{}`), []byte(`{"spec":null,"metadata":[]}`), []byte(`{"spec":{"scaleStrategy":[],"updateStrategy":"x"}}`),
		[]byte(`{"metadata":{"labels":"x","annotations":{"flotilla-k8s.github.io/other-version":7}}}`),
		[]byte(`{"spec":{"updateStrategy":{"rollingUpdate":{"type":1,"rollingUpdate":{},"inPlaceUpdateStrategy":{"imagePreDownloadParallelism":{}}}}}}`),
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		seed, err := yaml.YAMLToJSON(raw)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, seed)
	}
	return all
}

// BenchmarkTo is the cost of one stored object in a v1alpha1 list, and of one v1alpha1 write.
func BenchmarkTo(b *testing.B) {
	var obj object
	raw, err := os.ReadFile(filepath.Join("testdata", "TestGolden", "down-pre-download.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	if raw, err = yaml.YAMLToJSON(raw); err != nil {
		b.Fatal(err)
	}
	if err := utiljson.Unmarshal(raw, &obj); err != nil {
		b.Fatal(err)
	}
	view := to(b, obj, spoke)
	for name, in := range map[string]object{"down": obj, "up": view} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := convert.To(in, other(in)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
