package assemble_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/flotilla-k8s/flotilla/tools/images/assemble"
	"github.com/flotilla-k8s/flotilla/tools/images/busybox"
	"github.com/flotilla-k8s/flotilla/tools/images/catalog"
	"github.com/flotilla-k8s/flotilla/tools/images/compile"
	"github.com/flotilla-k8s/flotilla/tools/images/oci"
)

var tiny = catalog.Image{
	Name:       "tiny",
	References: []string{"docker.io/flotilla/tiny:dev"},
	Program:    compile.Program{Dir: "tiny", Package: "."},
	Path:       "/tiny",
	Config:     oci.Config{User: oci.NonRoot, Entrypoint: []string{"/tiny"}},
}

// counting counts what it has compiled.
type counting struct {
	compile.Toolchain
	builds int
}

func (c *counting) Build(ctx context.Context, p compile.Program, platform v1.Platform) ([]byte, error) {
	c.builds++
	return c.Toolchain.Build(ctx, p, platform)
}

// appletsOnly stands in for a host's busybox.
type appletsOnly struct{}

func (appletsOnly) Files(_ context.Context, _ v1.Platform, target string) ([]oci.File, error) {
	return busybox.Layout([]byte("busybox"), []string{"sh"}, target)
}

func TestSameSourcesSameDigest(t *testing.T) {
	first := digests(t, "testdata", "v1")
	if diff := cmp.Diff(first, digests(t, copied(t), "v1")); diff != "" {
		t.Errorf("digests from another folder differ (-first +second):\n%s", diff)
	}
	if other := digests(t, "testdata", "v2"); other[0] == first[0] {
		t.Error("another version has the same digest")
	}
	if first[0] == first[1] {
		t.Error("two platforms have the same digest")
	}
}

func TestVersionIsLinkedIn(t *testing.T) {
	host := v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
	binary, err := compile.Toolchain{Root: "testdata", Version: "v1.2.3"}.Build(t.Context(), tiny.Program, host)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tiny")
	if err := os.WriteFile(file, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), file).Output()
	if err != nil || string(out) != "v1.2.3" {
		t.Errorf("program prints %q (error %v), want v1.2.3", out, err)
	}
}

func TestBinaryIsCompiledOnceForAllTags(t *testing.T) {
	compiler := &counting{Toolchain: compile.Toolchain{Root: "testdata", Version: "v1"}}
	builder := assemble.New(compiler, appletsOnly{})
	second := tiny
	second.Files = []oci.File{{Path: catalog.TagFile, Mode: 0o644, Content: []byte("v2\n")}}
	second.Busybox = true
	var ids []v1.Hash
	for _, image := range []catalog.Image{tiny, second} {
		built, err := builder.Build(t.Context(), image, oci.Platforms()[:1])
		if err != nil {
			t.Fatal(err)
		}
		id, err := built[0].ConfigName()
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if compiler.builds != 1 {
		t.Errorf("program was compiled %d times", compiler.builds)
	}
	if ids[0] == ids[1] {
		t.Error("two tags have one image ID")
	}
}

func TestCompilerErrorIsShown(t *testing.T) {
	broken := tiny
	broken.Program.Package = "./missing"
	_, err := assemble.New(compile.Toolchain{Root: "testdata"}, appletsOnly{}).Build(t.Context(), broken, oci.Platforms()[:1])
	if err == nil || !strings.Contains(err.Error(), "directory not found") || !strings.Contains(err.Error(), "flotilla/tiny:dev") {
		t.Errorf("error is %v", err)
	}
}

func digests(t *testing.T, root, version string) []string {
	t.Helper()
	builder := assemble.New(compile.Toolchain{Root: root, Version: version}, appletsOnly{})
	images, err := builder.Build(t.Context(), tiny, oci.Platforms())
	if err != nil {
		t.Fatal(err)
	}
	var digests []string
	for _, img := range images {
		d, err := img.Digest()
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, d.String())
	}
	return digests
}

// copied returns a copy of testdata in another folder.
func copied(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	return dir
}
