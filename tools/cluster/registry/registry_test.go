package registry

import (
	"archive/tar"
	"io"
	"io/fs"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func serve(t *testing.T, dir string) string {
	t.Helper()
	handler, err := Handler(t.Context(), dir, log.New(io.Discard, "", 0))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func image(t *testing.T, called string) Image {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("the program of "+called), 0o755); err != nil {
		t.Fatal(err)
	}
	img, err := FromProgram(called, path)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func digest(t *testing.T, img v1.Image) v1.Hash {
	t.Helper()
	d, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func pull(t *testing.T, reference string) (v1.Image, error) {
	t.Helper()
	ref, err := name.ParseReference(reference, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	return remote.Image(ref)
}

func TestWhatWasPushedSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	img := image(t, "registry.example/team/web:v1")
	if err := Push(t.Context(), serve(t, dir), img); err != nil {
		t.Fatal(err)
	}
	address := serve(t, dir) // another registry on the same directory
	for _, reference := range []string{"/team/web:v1", "/team/web@" + digest(t, img.Image).String()} {
		got, err := pull(t, address+reference)
		if err != nil {
			t.Fatal(err)
		}
		if digest(t, got) != digest(t, img.Image) {
			t.Errorf("%s is another image", reference)
		}
		layers, err := got.Layers()
		if err != nil || len(layers) != 1 {
			t.Fatalf("layers: %d, %v", len(layers), err)
		}
		if _, err := layers[0].Uncompressed(); err != nil {
			t.Errorf("the layer of %s: %v", reference, err)
		}
	}
}

func TestAMovedTagAndADeletedOneSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	address := serve(t, dir)
	first, second := image(t, "web:v1"), image(t, "web:v2")
	moved := Image{Name: first.Name, Image: second.Image}
	gone := image(t, "gone:v1")
	for _, img := range []Image{first, moved, gone} {
		if err := Push(t.Context(), address, img); err != nil {
			t.Fatal(err)
		}
	}
	ref, err := name.ParseReference(address+"/library/gone:v1", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Delete(ref); err != nil {
		t.Fatal(err)
	}
	address = serve(t, dir)
	if got, err := pull(t, address+"/library/web:v1"); err != nil || digest(t, got) != digest(t, second.Image) {
		t.Errorf("the tag was not moved: %v", err)
	}
	if _, err := pull(t, address+"/library/gone:v1"); err == nil {
		t.Error("the deleted tag is back")
	}
}

func TestAnIndexSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	address := serve(t, dir)
	ref, err := name.ParseReference(address+"/web:v1", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(ref, indexOf(image(t, "web:v1").Image)); err != nil {
		t.Fatal(err)
	}
	// The platform of the index's image is linux on this architecture.
	ref, err = name.ParseReference(serve(t, dir)+"/web:v1", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := remote.Image(ref, remote.WithPlatform(v1.Platform{OS: "linux", Architecture: runtime.GOARCH})); err != nil {
		t.Error(err)
	}
}

// indexOf returns an index with an image for this architecture, and one for another before it.
func indexOf(img v1.Image) v1.ImageIndex {
	return mutate.AppendManifests(empty.Index,
		mutate.IndexAddendum{Add: empty.Image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "other"}}},
		mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: runtime.GOARCH}}},
	)
}

func TestABrokenStoreIsReported(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "manifests"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "manifests", "x.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Handler(t.Context(), dir, log.New(io.Discard, "", 0)); err == nil {
		t.Error("no error")
	}
}

// read reads an archive and returns its images by name.
func read(t *testing.T, path string) map[string]v1.Image {
	t.Helper()
	images, done, err := ReadArchive(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := done(); err != nil {
			t.Error(err)
		}
	})
	byName := map[string]v1.Image{}
	for _, img := range images {
		byName[img.Name.String()] = img.Image
	}
	return byName
}

func TestReadDockerArchive(t *testing.T) {
	want := []Image{image(t, "flotilla/a:v1"), image(t, "docker.io/flotilla/b:v2")}
	path := filepath.Join(t.TempDir(), "images.tar")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteArchive(file, want); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	got := read(t, path)
	if len(got) != len(want) {
		t.Errorf("got %d images", len(got))
	}
	for _, img := range want {
		wantID, err := img.Image.ConfigName()
		if err != nil {
			t.Fatal(err)
		}
		if gotID, err := got[img.Name.String()].ConfigName(); err != nil || gotID != wantID {
			t.Errorf("%s has ID %s, %v", img.Name, gotID, err)
		}
	}
}

// ociLayout writes a layout with an image, an index and an image that nobody has named.
func ociLayout(t *testing.T) (dir string, want map[string]v1.Image) {
	t.Helper()
	dir = t.TempDir()
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	want = map[string]v1.Image{"flotilla/a:v1": image(t, "a").Image, "flotilla/b:v1": image(t, "b").Image}
	err = path.AppendImage(want["flotilla/a:v1"], layout.WithAnnotations(map[string]string{annotationImageName: "flotilla/a:v1", annotationRefName: "v1"}))
	if err != nil {
		t.Fatal(err)
	}
	err = path.AppendIndex(indexOf(want["flotilla/b:v1"]), layout.WithAnnotations(map[string]string{annotationRefName: "flotilla/b:v1"}))
	if err != nil {
		t.Fatal(err)
	}
	if err := path.AppendImage(image(t, "c").Image); err != nil {
		t.Fatal(err)
	}
	return dir, want
}

func TestReadLayout(t *testing.T) {
	dir, want := ociLayout(t)
	for kind, path := range map[string]string{"directory": dir, "tar": tarOf(t, dir)} {
		t.Run(kind, func(t *testing.T) {
			got := read(t, path)
			if len(got) != len(want) {
				t.Errorf("got %d images", len(got))
			}
			for called, img := range want {
				if got[called] == nil || digest(t, got[called]) != digest(t, img) {
					t.Errorf("%s is missing or another image", called)
				}
			}
		})
	}
}

func tarOf(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "layout.tar")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(file)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadArchiveRefuses(t *testing.T) {
	escaping := filepath.Join(t.TempDir(), "escape.tar")
	file, err := os.Create(escaping)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(file)
	if err := w.WriteHeader(&tar.Header{Name: "../outside", Typeflag: tar.TypeReg, Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	nonsense := filepath.Join(t.TempDir(), "nonsense")
	if err := os.WriteFile(nonsense, []byte(strings.Repeat("no archive", 200)), 0o644); err != nil {
		t.Fatal(err)
	}
	before := temporary(t)
	for what, path := range map[string]string{
		"a file that is no archive":     nonsense,
		"a directory that is no layout": t.TempDir(),
		"a file that is not there":      filepath.Join(t.TempDir(), "none"),
		"a path out of the archive":     escaping,
	} {
		if _, _, err := ReadArchive(path); err == nil {
			t.Errorf("no error for %s", what)
		}
	}
	if after := temporary(t); !slices.Equal(before, after) {
		t.Errorf("left in the temporary directory: %v", after)
	}
}

func temporary(t *testing.T) []string {
	t.Helper()
	left, err := fs.Glob(os.DirFS(os.TempDir()), "flotilla-layout-*")
	if err != nil {
		t.Fatal(err)
	}
	return left
}
