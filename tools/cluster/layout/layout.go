// Package layout knows where the local clusters keep their files.
package layout

import (
	"fmt"
	"os"
	"path/filepath"
)

// Dirs are the directories shared by all clusters of one user.
type Dirs struct {
	Cache    string // built programs; may be deleted at any time while no cluster runs
	Clusters string // one directory per cluster
}

// FromEnv returns the directories: FLOTILLA_CACHE or the user's cache directory, and
// FLOTILLA_STATE or a folder of the former.
func FromEnv(getenv func(string) string) (Dirs, error) {
	cache := getenv("FLOTILLA_CACHE")
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return Dirs{}, fmt.Errorf("finding the cache directory (set FLOTILLA_CACHE): %w", err)
		}
		cache = filepath.Join(base, "flotilla")
	}
	clusters := getenv("FLOTILLA_STATE")
	if clusters == "" {
		clusters = filepath.Join(cache, "clusters")
	}
	dirs := Dirs{}
	var err error
	if dirs.Cache, err = filepath.Abs(cache); err != nil {
		return Dirs{}, fmt.Errorf("finding the cache directory: %w", err)
	}
	if dirs.Clusters, err = filepath.Abs(clusters); err != nil {
		return Dirs{}, fmt.Errorf("finding the state directory: %w", err)
	}
	return dirs, nil
}

// Cluster returns the directory of one cluster.
func (d Dirs) Cluster(name string) string { return filepath.Join(d.Clusters, name) }
