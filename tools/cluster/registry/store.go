package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/v1/types"
)

// manifest is one accepted upload of a manifest.
type manifest struct {
	Path        string `json:"path"` // of the URL, /v2/REPOSITORY/manifests/REFERENCE
	ContentType string `json:"contentType"`
	Body        []byte `json:"body"`
}

// store keeps manifests in a directory, a file for each path.
type store struct{ dir string }

func (s store) file(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:])+".json")
}

// put keeps a manifest in the place of an earlier one.
func (s store) put(m manifest) error {
	content, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encoding a manifest: %w", err)
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return fmt.Errorf("keeping a manifest: %w", err)
	}
	temp, err := os.CreateTemp(s.dir, ".new-")
	if err != nil {
		return fmt.Errorf("keeping a manifest: %w", err)
	}
	_, writeErr := temp.Write(content)
	if err := errors.Join(writeErr, temp.Close()); err != nil {
		return fmt.Errorf("keeping a manifest: %w", err)
	}
	if err := os.Rename(temp.Name(), s.file(m.Path)); err != nil {
		return fmt.Errorf("keeping a manifest: %w", err)
	}
	return nil
}

func (s store) remove(path string) error {
	if err := os.Remove(s.file(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forgetting a manifest: %w", err)
	}
	return nil
}

// all returns the kept manifests, those of images before the indexes that refer to them.
func (s store) all() ([]manifest, error) {
	files, err := filepath.Glob(filepath.Join(s.dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("listing manifests: %w", err)
	}
	var images, indexes []manifest
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading a manifest: %w", err)
		}
		var m manifest
		if err := json.Unmarshal(content, &m); err != nil {
			return nil, fmt.Errorf("reading the manifest %s: %w", file, err)
		}
		if types.MediaType(m.ContentType).IsIndex() {
			indexes = append(indexes, m)
		} else {
			images = append(images, m)
		}
	}
	return append(images, indexes...), nil
}
