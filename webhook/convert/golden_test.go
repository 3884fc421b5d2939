package convert_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// TestGolden converts the first document of each file to the other version and compares with the
// second. `go test -update` rewrites the second documents; review the diff as code.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", t.Name(), "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d files: %v", len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		title, _, _ := bytes.Cut(raw, []byte("\n"))
		t.Run(string(bytes.TrimPrefix(title, []byte("# "))), func(t *testing.T) {
			in, want, split := bytes.Cut(raw, []byte("---\n"))
			if !split {
				t.Fatalf("%s has no second document", file)
			}
			source := parse(t, in)
			got := to(t, source, other(source))
			if update() {
				rewrite(t, file, in, got)
			} else if diff := cmp.Diff(parse(t, want), got); diff != "" {
				t.Errorf("%s:\n%s", file, diff)
			}
			if diff := cmp.Diff(meaning(source), meaning(to(t, got, source["apiVersion"].(string)))); diff != "" {
				t.Errorf("%s does not come back as it was:\n%s", file, diff)
			}
		})
	}
}

func other(obj object) string {
	if obj["apiVersion"] == hub {
		return spoke
	}
	return hub
}

func parse(t *testing.T, raw []byte) object {
	t.Helper()
	text, err := yaml.YAMLToJSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, text)
}

func rewrite(t *testing.T, file string, in []byte, out object) {
	t.Helper()
	text, err := yaml.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(append(in, "---\n"...), text...), 0o600); err != nil {
		t.Fatal(err)
	}
}
