// Package publish knows how to bring images to where a runtime finds them: a registry or a folder
// of tarballs.
package publish

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Destination is a registry and the path in it that image names are put below: HOST[:PORT][/PREFIX].
type Destination string

// Local tells whether d is spoken to in plain HTTP: a loopback or private address, or a name that
// ends in .local.
func (d Destination) Local() (bool, error) {
	host, _, _ := strings.Cut(string(d), "/")
	registry, err := name.NewRegistry(host, name.StrictValidation)
	if err != nil {
		return false, fmt.Errorf("reading destination %q: %w", string(d), err)
	}
	return registry.Scheme() == "http", nil
}

// target puts reference at d: the reference's registry is replaced, its repository and tag stay.
func (d Destination) target(reference string) (name.Tag, error) {
	tag, err := name.NewTag(reference, name.StrictValidation)
	if err != nil {
		return name.Tag{}, fmt.Errorf("reading reference %q: %w", reference, err)
	}
	moved := path.Join(string(d), tag.RepositoryStr()) + ":" + tag.TagStr()
	target, err := name.NewTag(moved, name.StrictValidation)
	if err != nil {
		return name.Tag{}, fmt.Errorf("placing %s at %q: %w", reference, string(d), err)
	}
	return target, nil
}

// Push uploads index under the repository and tag of each reference and returns the names that pull
// it by digest. Credentials come from the Docker configuration; without any it is anonymous.
func Push(ctx context.Context, d Destination, references []string, index v1.ImageIndex) ([]string, error) {
	digest, err := index.Digest()
	if err != nil {
		return nil, fmt.Errorf("computing digest: %w", err)
	}
	var pushed []string
	for _, reference := range references {
		target, err := d.target(reference)
		if err != nil {
			return nil, err
		}
		err = remote.WriteIndex(target, index, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
		if err != nil {
			return nil, fmt.Errorf("pushing %s: %w", target, err)
		}
		pushed = append(pushed, target.String()+"@"+digest.String())
	}
	return pushed, nil
}

// Save writes image under the name reference as a tarball that docker load and ctr images import
// read, and returns its path. Such a tarball has one platform, which its name tells:
// dir/test-server_v1_linux_amd64.tar.
func Save(dir, reference string, image v1.Image) (string, error) {
	tag, err := name.NewTag(reference, name.StrictValidation)
	if err != nil {
		return "", fmt.Errorf("reading reference %q: %w", reference, err)
	}
	file, err := fileName(reference, image)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("making output folder: %w", err)
	}
	file = filepath.Join(dir, file)
	if err := tarball.WriteToFile(file, tag, image); err != nil {
		// Half a tarball must not be mistaken for a whole one.
		return "", errors.Join(fmt.Errorf("writing %s: %w", file, err), os.Remove(file))
	}
	return file, nil
}

func fileName(reference string, image v1.Image) (string, error) {
	config, err := image.ConfigFile()
	if err != nil {
		return "", fmt.Errorf("reading image configuration: %w", err)
	}
	tagged := strings.ReplaceAll(path.Base(reference), ":", "_")
	return fmt.Sprintf("%s_%s_%s.tar", tagged, config.OS, config.Architecture), nil
}
