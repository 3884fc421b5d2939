package star_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

const (
	root   = "../.."
	prefix = "github.com/flotilla-k8s/flotilla/"
	shared = prefix + "shared"
)

// module is one module of the repository.
type module struct {
	dir  string // relative to the root, with slashes
	file *modfile.File
}

func (m module) isTool() bool { return m.dir == "tools" || strings.HasPrefix(m.dir, "tools/") }

// source is one Go file of the repository.
type source struct {
	file    string // relative to the root, with slashes
	imports []string
}

func (s source) isTest() bool { return strings.HasSuffix(s.file, "_test.go") }

func TestModulesRequireOnlyShared(t *testing.T) {
	for _, m := range modules(t) {
		if want := prefix + m.dir; m.file.Module.Mod.Path != want {
			t.Errorf("%s/go.mod names module %s, want %s", m.dir, m.file.Module.Mod.Path, want)
		}
		for _, require := range m.file.Require {
			ours := strings.HasPrefix(require.Mod.Path, prefix)
			switch {
			case !ours:
			case m.dir == "shared" || m.isTool():
				t.Errorf("%s requires %s; it must require no module of ours", m.dir, require.Mod.Path)
			case require.Mod.Path != shared:
				t.Errorf("%s requires %s; of our modules it may require only shared", m.dir, require.Mod.Path)
			case !replaces(m, shared):
				t.Errorf("%s requires shared without a replace, so it does not build outside the workspace", m.dir)
			}
		}
	}
}

func TestWorkspaceListsEveryModule(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	work, err := modfile.ParseWork("go.work", data, nil)
	if err != nil {
		t.Fatal(err)
	}
	used := make(map[string]bool)
	for _, use := range work.Use {
		used[path.Clean(use.Path)] = true
	}
	for _, m := range modules(t) {
		// Modules below tools pin a generator, a linter or a program of the cluster, with versions of its own.
		if own := strings.HasPrefix(m.dir, "tools/"); used[m.dir] == own {
			t.Errorf("module %s is in go.work: %t, want %t", m.dir, used[m.dir], !own)
		}
	}
}

func TestImports(t *testing.T) {
	for _, s := range sources(t) {
		for _, imported := range s.imports {
			for _, problem := range problems(s, imported) {
				t.Errorf("%s imports %s: %s", s.file, imported, problem)
			}
		}
	}
}

// problems returns the rules that an import breaks.
func problems(s source, imported string) []string {
	var found []string
	report := func(broken bool, rule string) {
		if broken {
			found = append(found, rule)
		}
	}
	in := func(dirs ...string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(s.file, dir+"/") })
	}
	from := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return imported == p || strings.HasPrefix(imported, p+"/") })
	}
	ours := strings.HasPrefix(imported, prefix)
	own := strings.HasPrefix(imported, prefix+moduleOf(s.file)+"/")
	report(ours && !own && !from(shared), "another module of ours than shared")
	report(in("e2e") && from(shared) && !from(shared+"/api"), "end-to-end tests know only the API types")
	report(in("shared/api") && !s.isTest() && ours && !from(shared+"/api"), "the API types are the leaf")
	report(in("shared/api") && !s.isTest() && from("sigs.k8s.io/controller-runtime") && !strings.HasSuffix(imported, "/scheme"),
		"the API types need no controller library")
	report(from("k8s.io/kubernetes") && !in("webhook/podtemplate", "tools"), "k8s.io/kubernetes stays in webhook/podtemplate")
	isPlan := path.Base(path.Dir(s.file)) == "plan" && in("operators") && !s.isTest()
	report(isPlan && from("context", "sigs.k8s.io/controller-runtime", "k8s.io/client-go", "github.com/go-logr/logr", "k8s.io/klog"),
		"a plan is a pure function: no context, client or logger")
	return found
}

func TestProblemsFindsEachRule(t *testing.T) {
	cases := []struct {
		file, imported string
		want           int
	}{
		{"operators/workloads/main.go", shared + "/operator", 0},
		{"operators/workloads/main.go", prefix + "operators/workloads/cloneset", 0},
		{"operators/workloads/main.go", prefix + "operators/image/puller", 1},
		{"shared/inplace/engine.go", prefix + "webhook/admit", 1},
		{"tools/demo/main.go", shared + "/api/wire", 0},
		{"e2e/cloneset_test.go", shared + "/api/apps/v1beta1", 0},
		{"e2e/cloneset_test.go", shared + "/inplace", 1},
		{"shared/api/apps/v1beta1/types.go", shared + "/inplace", 1},
		{"shared/api/apps/v1beta1/types.go", "sigs.k8s.io/controller-runtime/pkg/scheme", 0},
		{"shared/api/apps/v1beta1/types.go", "sigs.k8s.io/controller-runtime/pkg/client", 1},
		{"daemon/main.go", "k8s.io/kubernetes/pkg/apis/core", 1},
		{"webhook/podtemplate/default.go", "k8s.io/kubernetes/pkg/apis/core/v1", 0},
		{"operators/workloads/cloneset/plan/plan.go", "context", 1},
		{"operators/workloads/cloneset/plan/plan_test.go", "context", 0},
		{"tools/cluster/plan/plan.go", "context", 0},
	}
	for _, tc := range cases {
		if got := problems(source{file: tc.file}, tc.imported); len(got) != tc.want {
			t.Errorf("%s importing %s breaks %q, want %d rules", tc.file, tc.imported, got, tc.want)
		}
	}
}

// moduleOf returns the directory of the module in the workspace that a file belongs to.
func moduleOf(file string) string {
	parts := strings.Split(file, "/")
	if parts[0] == "operators" {
		return path.Join(parts[0], parts[1])
	}
	return parts[0]
}

func replaces(m module, modulePath string) bool {
	return slices.ContainsFunc(m.file.Replace, func(r *modfile.Replace) bool {
		return r.Old.Path == modulePath && path.Join(m.dir, r.New.Path) == strings.TrimPrefix(modulePath, prefix)
	})
}

func modules(t *testing.T) []module {
	t.Helper()
	var found []module
	walk(t, func(file string) error {
		if path.Base(file) != "go.mod" {
			return nil
		}
		data, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return err
		}
		parsed, err := modfile.Parse(file, data, nil)
		if err != nil {
			return err
		}
		found = append(found, module{dir: path.Dir(file), file: parsed})
		return nil
	})
	if len(found) < 11 {
		t.Fatalf("found only %d modules", len(found))
	}
	return found
}

func sources(t *testing.T) []source {
	t.Helper()
	var found []source
	walk(t, func(file string) error {
		if path.Ext(file) != ".go" {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		s := source{file: file}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			s.imports = append(s.imports, imported)
		}
		found = append(found, s)
		return nil
	})
	if len(found) < 50 {
		t.Fatalf("found only %d Go files", len(found))
	}
	return found
}

// walk visits the files of the repository that are not hidden, test data or output.
func walk(t *testing.T, visit func(file string) error) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if name != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || name == "dist") {
				return fs.SkipDir
			}
			return nil
		}
		return visit(file)
	})
	if err != nil {
		t.Fatal(err)
	}
}
