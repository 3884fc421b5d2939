package api_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const here = "github.com/flotilla-k8s/flotilla/shared/api"

// Users and tools import the types without wanting a client library or a controller framework, so
// the imports are held to the two modules that define Kubernetes types.
func TestTypesImportKubernetesTypesOnly(t *testing.T) {
	imports := importsByFile(t)
	if len(imports) < 5 {
		t.Fatalf("found only %d files below shared/api", len(imports))
	}
	for file, paths := range imports {
		for _, path := range paths {
			if !allowed(path) {
				t.Errorf("%s imports %s", file, path)
			}
		}
	}
}

// The direct imports being right, no client and nothing else of ours may come in behind them.
func TestTypesPullInNoClient(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", here+"/...").Output()
	if err != nil {
		t.Fatalf("listing dependencies: %v", err)
	}
	for dep := range strings.FieldsSeq(string(out)) {
		for _, unwanted := range []string{"k8s.io/client-go", "k8s.io/apiserver", "sigs.k8s.io/controller-runtime"} {
			if within(dep, unwanted) {
				t.Errorf("shared/api pulls in %s", dep)
			}
		}
		if within(dep, "github.com/flotilla-k8s/flotilla") && !within(dep, here) {
			t.Errorf("shared/api pulls in %s", dep)
		}
	}
}

func allowed(path string) bool {
	standard := !strings.Contains(strings.SplitN(path, "/", 2)[0], ".")
	return standard || within(path, here) || within(path, "k8s.io/apimachinery") || within(path, "k8s.io/api")
}

func within(path, module string) bool {
	return path == module || strings.HasPrefix(path, module+"/")
}

// importsByFile reads what every file below this folder imports, tests left out.
func importsByFile(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			found[file] = append(found[file], path)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("reading imports: %v", err)
	}
	return found
}
