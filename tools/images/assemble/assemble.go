// Package assemble knows how to make the images of the catalog from their parts.
package assemble

import (
	"context"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/flotilla-k8s/flotilla/tools/images/catalog"
	"github.com/flotilla-k8s/flotilla/tools/images/compile"
	"github.com/flotilla-k8s/flotilla/tools/images/oci"
)

// Compiler returns the static binary of a program.
type Compiler interface {
	Build(ctx context.Context, p compile.Program, platform v1.Platform) ([]byte, error)
}

// BusyboxSource returns busybox for a platform and links to target for its applets.
type BusyboxSource interface {
	Files(ctx context.Context, platform v1.Platform, target string) ([]oci.File, error)
}

// Builder makes images. It keeps each binary, since several tags share one. It is not for use by
// several goroutines: one compilation already uses every core.
type Builder struct {
	compiler Compiler
	busybox  BusyboxSource
	binaries map[target][]byte
}

type target struct {
	program  compile.Program
	platform string
}

// New returns a Builder on the given sources of programs.
func New(compiler Compiler, busybox BusyboxSource) *Builder {
	return &Builder{compiler: compiler, busybox: busybox, binaries: map[target][]byte{}}
}

// Build returns the image for each of platforms, in their order.
func (b *Builder) Build(ctx context.Context, image catalog.Image, platforms []v1.Platform) ([]v1.Image, error) {
	images := make([]v1.Image, 0, len(platforms))
	for _, platform := range platforms {
		files, err := b.files(ctx, image, platform)
		if err != nil {
			return nil, fmt.Errorf("building %s: %w", image.References[0], err)
		}
		built, err := oci.Image(platform, image.Config, files)
		if err != nil {
			return nil, fmt.Errorf("building %s: %w", image.References[0], err)
		}
		images = append(images, built)
	}
	return images, nil
}

func (b *Builder) files(ctx context.Context, image catalog.Image, platform v1.Platform) ([]oci.File, error) {
	binary, err := b.binary(ctx, image.Program, platform)
	if err != nil {
		return nil, err
	}
	files := append(oci.BaseFiles(), oci.File{Path: image.Path, Mode: 0o755, Content: binary})
	files = append(files, image.Files...)
	if image.Busybox {
		more, err := b.busybox.Files(ctx, platform, image.Path)
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	return files, nil
}

func (b *Builder) binary(ctx context.Context, p compile.Program, platform v1.Platform) ([]byte, error) {
	key := target{program: p, platform: platform.String()}
	if known, ok := b.binaries[key]; ok {
		return known, nil
	}
	binary, err := b.compiler.Build(ctx, p, platform)
	if err != nil {
		return nil, err
	}
	if err := oci.CheckStatic(binary, platform); err != nil {
		return nil, fmt.Errorf("checking the binary of %s %s: %w", p.Dir, p.Package, err)
	}
	b.binaries[key] = binary
	return binary, nil
}
