package registry

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Annotations by which an OCI layout names its images.
const (
	annotationImageName = "io.containerd.image.name"
	annotationRefName   = "org.opencontainers.image.ref.name"
)

// Image is an image with one of its names.
type Image struct {
	Name  name.Tag
	Image v1.Image
}

// ReadArchive returns the named images of an archive: a tar file as "docker save" writes it, or
// an OCI layout as a directory or a tar file. What it returns is readable until the returned
// function is called.
func ReadArchive(path string) ([]Image, func() error, error) {
	keep := func() error { return nil }
	info, err := os.Stat(path)
	if err != nil {
		return nil, keep, fmt.Errorf("opening image archive: %w", err)
	}
	if info.IsDir() {
		images, err := readLayout(path)
		return images, keep, err
	}
	opener := func() (io.ReadCloser, error) { return os.Open(path) }
	if manifest, err := tarball.LoadManifest(opener); err == nil {
		images, err := readDockerArchive(path, opener, manifest)
		return images, keep, err
	}
	dir, err := os.MkdirTemp("", "flotilla-layout-")
	if err != nil {
		return nil, keep, fmt.Errorf("unpacking image archive: %w", err)
	}
	remove := func() error { return os.RemoveAll(dir) }
	if err := unpack(path, dir); err != nil {
		return nil, keep, errors.Join(err, remove())
	}
	images, err := readLayout(dir)
	return images, remove, err
}

func readDockerArchive(path string, opener tarball.Opener, manifest tarball.Manifest) ([]Image, error) {
	var images []Image
	for _, entry := range manifest {
		for _, repoTag := range entry.RepoTags {
			tag, err := name.NewTag(repoTag)
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", path, err)
			}
			image, err := tarball.Image(opener, &tag)
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", path, err)
			}
			images = append(images, Image{Name: tag, Image: image})
		}
	}
	if len(images) == 0 {
		return nil, fmt.Errorf("reading %s: no image in it has a name", path)
	}
	return images, nil
}

func readLayout(dir string) ([]Image, error) {
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, fmt.Errorf("reading %s: neither a docker archive nor an OCI layout: %w", dir, err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", dir, err)
	}
	var images []Image
	for _, descriptor := range manifest.Manifests {
		called := descriptor.Annotations[annotationImageName]
		if called == "" {
			called = descriptor.Annotations[annotationRefName]
		}
		if called == "" {
			continue
		}
		tag, err := name.NewTag(called)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", dir, err)
		}
		image, err := imageForUs(index, descriptor)
		if err != nil {
			return nil, fmt.Errorf("reading image %s of %s: %w", called, dir, err)
		}
		images = append(images, Image{Name: tag, Image: image})
	}
	if len(images) == 0 {
		return nil, fmt.Errorf("reading %s: no image in it has a name", dir)
	}
	return images, nil
}

// imageForUs returns the image a descriptor stands for; from an index, the one for this
// machine's architecture.
func imageForUs(index v1.ImageIndex, descriptor v1.Descriptor) (v1.Image, error) {
	if descriptor.MediaType.IsImage() {
		return index.Image(descriptor.Digest)
	}
	inner, err := index.ImageIndex(descriptor.Digest)
	if err != nil {
		return nil, err
	}
	manifest, err := inner.IndexManifest()
	if err != nil {
		return nil, err
	}
	for _, m := range manifest.Manifests {
		if m.Platform != nil && m.Platform.OS == "linux" && m.Platform.Architecture == runtime.GOARCH {
			return inner.Image(m.Digest)
		}
	}
	return nil, fmt.Errorf("no image for linux/%s in the index", runtime.GOARCH)
}

// unpack extracts the plain files of a tar file. The root confines them to dir.
func unpack(path, dir string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("unpacking image archive: %w", err)
	}
	defer func() { _ = file.Close() }() // read only: nothing can be lost
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("unpacking image archive: %w", err)
	}
	defer func() { _ = root.Close() }()
	archive := tar.NewReader(file)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("unpacking %s: %w", path, err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := extract(root, header.Name, archive); err != nil {
			return fmt.Errorf("unpacking %s: %w", path, err)
		}
	}
}

func extract(root *os.Root, path string, content io.Reader) error {
	path = filepath.Clean(path)
	if err := root.MkdirAll(filepath.Dir(path), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	file, err := root.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
