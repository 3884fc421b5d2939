package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/loader"
)

// family returns the folder of deploy/crds that a resource, by its plural, is installed with. A new
// kind must be entered here before its CRD can be generated.
func family(plural string) (string, bool) {
	switch plural {
	case "clonesets":
		return "workloads", true
	default:
		return "", false
	}
}

// byFamily writes each CRD into the folder of its family below dir.
type byFamily struct{ dir string }

// Open implements genall.OutputRule. The name it is given is <group>_<plural>.yaml.
func (o byFamily) Open(_ *loader.Package, name string) (io.WriteCloser, error) {
	_, plural, _ := strings.Cut(strings.TrimSuffix(name, ".yaml"), "_")
	folder, known := family(plural)
	if !known {
		return nil, fmt.Errorf("finding the family of %s: resource %q is not in the table", name, plural)
	}
	if err := os.MkdirAll(filepath.Join(o.dir, folder), 0o755); err != nil {
		return nil, fmt.Errorf("making the folder of family %s: %w", folder, err)
	}
	return os.Create(filepath.Join(o.dir, folder, name))
}
