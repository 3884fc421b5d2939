package publish_test

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/flotilla-k8s/flotilla/tools/images/oci"
	"github.com/flotilla-k8s/flotilla/tools/images/publish"
)

var references = []string{"docker.io/flotilla/tiny:dev", "registry.k8s.io/pause:3.10.1"}

func images(t *testing.T) []v1.Image {
	t.Helper()
	var images []v1.Image
	for _, p := range oci.Platforms() {
		files := append(oci.BaseFiles(), oci.File{Path: "/tiny", Mode: 0o755, Content: []byte(p.String())})
		img, err := oci.Image(p, oci.Config{User: oci.NonRoot, Entrypoint: []string{"/tiny"}}, files)
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, img)
	}
	return images
}

func TestPushAndPullBack(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	index, err := oci.Index(images(t))
	if err != nil {
		t.Fatal(err)
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	pushed, err := publish.Push(t.Context(), publish.Destination(host+"/mirror"), references, index)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		host + "/mirror/flotilla/tiny:dev@" + digest.String(),
		host + "/mirror/pause:3.10.1@" + digest.String(),
	}
	if diff := cmp.Diff(want, pushed); diff != "" {
		t.Errorf("pushed (-want +have):\n%s", diff)
	}
	checkIndex(t, host+"/mirror/flotilla/tiny:dev", digest)
	for _, p := range oci.Platforms() {
		checkPulled(t, host+"/mirror/flotilla/tiny:dev", p)
	}
}

// checkIndex pulls the index behind reference.
func checkIndex(t *testing.T, reference string, want v1.Hash) {
	t.Helper()
	ref, err := name.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	index, err := remote.Index(ref, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Errorf("index is not valid: %v", err)
	}
	if have, err := index.Digest(); err != nil || have != want {
		t.Errorf("digest is %s (error %v), want %s", have, err, want)
	}
}

// checkPulled pulls what reference holds for platform.
func checkPulled(t *testing.T, reference string, platform v1.Platform) {
	t.Helper()
	ref, err := name.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	img, err := remote.Image(ref, remote.WithPlatform(platform), remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(img); err != nil {
		t.Errorf("image for %s is not valid: %v", platform, err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Architecture != platform.Architecture || config.Config.User != oci.NonRoot {
		t.Errorf("image for %s is for %s and user %s", platform, config.Architecture, config.Config.User)
	}
}

func TestSaveIsReadableAndReproducible(t *testing.T) {
	img := images(t)[1]
	dir := filepath.Join(t.TempDir(), "new")
	file, err := publish.Save(dir, references[0], img)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, "tiny_dev_linux_arm64.tar"); file != want {
		t.Errorf("tarball is %s, not %s", file, want)
	}
	tag, err := name.NewTag(references[0])
	if err != nil {
		t.Fatal(err)
	}
	read, err := tarball.ImageFromPath(file, &tag)
	if err != nil {
		t.Fatal(err)
	}
	want, err := img.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	if have, err := read.ConfigName(); err != nil || have != want {
		t.Errorf("image ID is %s (error %v), want %s", have, err, want)
	}
	first, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := publish.Save(dir, references[0], images(t)[1]); err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, again) {
		t.Error("a second tarball has other bytes")
	}
}

func TestLocalDestinations(t *testing.T) {
	cases := map[publish.Destination]bool{
		"127.0.0.1:5000":        true,
		"localhost:5000/prefix": true,
		"10.88.0.1:5000":        true,
		"ghcr.io/somebody":      false,
	}
	for destination, want := range cases {
		if have, err := destination.Local(); err != nil || have != want {
			t.Errorf("Local(%s) is %t (error %v), want %t", destination, have, err, want)
		}
	}
	if _, err := publish.Destination("").Local(); err == nil {
		t.Error("an empty destination gives no error")
	}
}
