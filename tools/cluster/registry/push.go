package registry

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/flotilla-k8s/flotilla/tools/images/oci"
)

// Push uploads an image to the registry at an address. Whatever registry the image's name says,
// nodes look for it here, under the rest of the name.
func Push(ctx context.Context, address string, image Image) error {
	to, err := name.NewTag(address+"/"+image.Name.RepositoryStr()+":"+image.Name.TagStr(), name.Insecure)
	if err != nil {
		return fmt.Errorf("naming %s in the registry: %w", image.Name, err)
	}
	if err := remote.Write(to, image.Image, remote.WithContext(ctx)); err != nil {
		return fmt.Errorf("pushing %s: %w", image.Name, err)
	}
	return nil
}

// WriteArchive writes images as an archive that "ctr images import" reads.
func WriteArchive(to io.Writer, images []Image) error {
	byName := map[name.Tag]v1.Image{}
	for _, image := range images {
		byName[image.Name] = image.Image
	}
	if err := tarball.MultiWrite(byName, to); err != nil {
		return fmt.Errorf("writing an image archive: %w", err)
	}
	return nil
}

// FromProgram returns an image that holds one static program and starts it.
func FromProgram(called, path string) (Image, error) {
	tag, err := name.NewTag(called)
	if err != nil {
		return Image{}, fmt.Errorf("naming image %s: %w", called, err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return Image{}, fmt.Errorf("making image %s: %w", called, err)
	}
	entry := "/" + filepath.Base(path)
	image, err := oci.Image(
		v1.Platform{OS: "linux", Architecture: runtime.GOARCH},
		oci.Config{Entrypoint: []string{entry}},
		[]oci.File{{Path: entry, Mode: 0o755, Content: content}},
	)
	if err != nil {
		return Image{}, fmt.Errorf("making image %s: %w", called, err)
	}
	return Image{Name: tag, Image: image}, nil
}
