package oci

import (
	"fmt"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Config is what an image tells a runtime, the same for every platform.
type Config struct {
	// User is "UID:GID" in numbers, which a kubelet needs to check runAsNonRoot.
	User string
	// Entrypoint and Cmd are what a container runs when its pod names nothing else.
	Entrypoint, Cmd []string
	// Env holds "NAME=value" pairs.
	Env []string
	// Labels are the image's annotations under their OCI names.
	Labels map[string]string
}

// Image returns a one-layer image of files for platform. The working directory is /.
func Image(platform v1.Platform, config Config, files []File) (v1.Image, error) {
	content, err := layer(files)
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.Append(base, mutate.Addendum{
		Layer:   content,
		History: v1.History{Created: v1.Time{Time: epoch()}, CreatedBy: "flotilla tools/images"},
	})
	if err != nil {
		return nil, fmt.Errorf("appending layer: %w", err)
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading image configuration: %w", err)
	}
	file = file.DeepCopy()
	file.Created = v1.Time{Time: epoch()}
	file.OS, file.Architecture, file.Variant = platform.OS, platform.Architecture, platform.Variant
	file.Config = v1.Config{
		User:       config.User,
		Entrypoint: slices.Clone(config.Entrypoint),
		Cmd:        slices.Clone(config.Cmd),
		Env:        append([]string{"PATH=/usr/local/bin:/usr/bin:/bin"}, config.Env...),
		WorkingDir: "/",
		Labels:     config.Labels,
	}
	img, err = mutate.ConfigFile(img, file)
	if err != nil {
		return nil, fmt.Errorf("writing image configuration: %w", err)
	}
	return img, nil
}

// Index returns one reference to the images of several platforms, in the given order. Each image
// states its platform in its own configuration.
func Index(images []v1.Image) (v1.ImageIndex, error) {
	adds := make([]mutate.IndexAddendum, 0, len(images))
	for _, img := range images {
		file, err := img.ConfigFile()
		if err != nil {
			return nil, fmt.Errorf("reading image configuration: %w", err)
		}
		adds = append(adds, mutate.IndexAddendum{
			Add:        img,
			Descriptor: v1.Descriptor{Platform: file.Platform()},
		})
	}
	return mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), adds...), nil
}
