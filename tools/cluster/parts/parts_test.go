package parts

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSelect(t *testing.T) {
	all, err := Select(nil)
	if err != nil || len(all) != len(All()) {
		t.Errorf("no name: %d parts, %v", len(all), err)
	}
	some, err := Select([]string{"kubernetes", "etcd"})
	if err != nil || len(some) != 2 || some[0].Name != "etcd" {
		t.Errorf("two names: %v, %v", some, err)
	}
	if _, err := Select([]string{"kubernetes", "docker"}); err == nil || !strings.Contains(err.Error(), "docker") {
		t.Errorf("an unknown name: %v", err)
	}
}

// TestEveryPartHasItsModule reads the committed modules: each requires what the part is named after.
func TestEveryPartHasItsModule(t *testing.T) {
	for _, part := range All() {
		t.Run(part.Name, func(t *testing.T) {
			gomod, err := os.ReadFile(filepath.Join(part.Name, "go.mod"))
			if err != nil {
				t.Fatal(err)
			}
			version, err := part.version(gomod)
			if err != nil || part.Module != "" && !strings.HasPrefix(version, "v") {
				t.Errorf("version %q, %v", version, err)
			}
			if len(part.Stamp) > 0 && !slices.ContainsFunc(part.flags(version), func(f string) bool {
				return strings.Contains(f, "gitVersion="+version) && strings.Contains(f, "gitMajor=1 ") && strings.Contains(f, "gitMinor=")
			}) {
				t.Errorf("the version is not stamped: %q", part.flags(version))
			}
		})
	}
	if _, err := All()[0].version([]byte("module x\n")); err == nil {
		t.Error("a module that is not required has a version")
	}
}

func TestKey(t *testing.T) {
	files := map[string][]byte{"go.mod": []byte("a"), "go.sum": []byte("b")}
	base := key(files, []string{"-s"}, "linux/amd64")
	if key(files, []string{"-s"}, "linux/amd64") != base {
		t.Error("the key is not stable")
	}
	for what, other := range map[string]string{
		"content":        key(map[string][]byte{"go.mod": []byte("x"), "go.sum": []byte("b")}, []string{"-s"}, "linux/amd64"),
		"another file":   key(map[string][]byte{"go.mod": []byte("a"), "go.sum": []byte("b"), "c": nil}, []string{"-s"}, "linux/amd64"),
		"moved content":  key(map[string][]byte{"go.mod": []byte("ab"), "go.sum": nil}, []string{"-s"}, "linux/amd64"),
		"flags":          key(files, []string{"-w"}, "linux/amd64"),
		"the platform":   key(files, []string{"-s"}, "linux/arm64"),
		"joined strings": key(files, nil, "-slinux/amd64"),
	} {
		if other == base {
			t.Errorf("%s does not change the key", what)
		}
	}
}

func TestFindSource(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := FindSource(filepath.Join(here, "kubernetes")); err != nil || got != here {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := FindSource(t.TempDir()); err == nil {
		t.Error("found where there is none")
	}
}

// newBuilder builds this directory's modules into an empty cache.
func newBuilder(t *testing.T) (Builder, *bytes.Buffer) {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	var progress bytes.Buffer
	return Builder{Source: here, Cache: t.TempDir(), Progress: &progress}, &progress
}

func TestBuildOnce(t *testing.T) {
	b, progress := newBuilder(t)
	bin, err := b.Build(t.Context(), "pause")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(progress.String(), "built in") {
		t.Errorf("it said %q", progress)
	}
	pause := exec.CommandContext(t.Context(), filepath.Join(bin, "pause"))
	if err := pause.Start(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(pause.Process.Signal(os.Interrupt), pause.Wait()); err != nil && !strings.Contains(err.Error(), "interrupt") {
		t.Error(err)
	}
	progress.Reset()
	again, err := b.Build(t.Context(), "pause")
	if err != nil || again != bin || progress.Len() > 0 {
		t.Errorf("the second time: %q, %v, it said %q", again, err, progress)
	}
}

func TestAnInterruptedBuildLeavesNothing(t *testing.T) {
	b, _ := newBuilder(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Build(ctx, "pause"); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	entries, err := os.ReadDir(filepath.Join(b.Cache, "parts"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".lock") {
			t.Errorf("left: %s", entry.Name())
		}
	}
	if _, err := b.Build(t.Context(), "pause"); err != nil {
		t.Errorf("the next build: %v", err)
	}
}

func TestABrokenModuleIsReported(t *testing.T) {
	source := t.TempDir()
	if err := os.CopyFS(source, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	program := []byte("package main\n\nfunc main() { undefinedName() }\n")
	if err := os.WriteFile(filepath.Join(source, "pause", "main.go"), program, 0o644); err != nil {
		t.Fatal(err)
	}
	b := Builder{Source: source, Cache: t.TempDir(), Progress: new(bytes.Buffer)}
	if _, err := b.Build(t.Context(), "pause"); err == nil || !strings.Contains(err.Error(), "undefinedName") {
		t.Errorf("got %v", err)
	}
}

func TestMeter(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	var out bytes.Buffer
	m := &meter{out: &out, label: "x v1", now: func() time.Time { return now }, started: now, reported: now}
	write := func(text string) {
		t.Helper()
		if n, err := m.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
	}
	write("go: downloading example.com/a v1.0.0\nexample.com/a\nexam")
	if out.Len() > 0 {
		t.Errorf("reported too early: %q", &out)
	}
	now = now.Add(meterInterval)
	write("ple.com/b\n# example.com/c\n./c.go:1: undefined: x\n")
	if got, want := out.String(), "x v1: 2 packages compiled, 10s\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := m.complaints(), "# example.com/c\n./c.go:1: undefined: x"; got != want {
		t.Errorf("complaints: %q, want %q", got, want)
	}
}
