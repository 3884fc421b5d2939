package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/flotilla-k8s/flotilla/webhook/registration"
)

// family is what the service does for one operator. A family that is not enabled leaves no trace: no
// handler, no hook, no write to its CRDs (WH-9).
type family struct {
	hooks []registration.Hook
	// handlers by path. Several hooks may share one.
	handlers map[string]admission.Handler
	// crds are the names of the CRDs that are converted.
	crds []string
}

// families returns the table of what can be named in --families.
func families() map[string]func(Deps) family {
	return map[string]func(Deps) family{
		"workloads": workloads,
	}
}

// enabled returns the hooks, handlers and CRDs of all named families, and of pods, which belong to all.
func enabled(names []string, deps Deps) (family, error) {
	table := families()
	sum := pods(deps)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		build, found := table[name]
		if !found {
			return family{}, fmt.Errorf("family %q is not known; known are: %s", name, strings.Join(slices.Sorted(maps.Keys(table)), ", "))
		}
		f := build(deps)
		sum.hooks = append(sum.hooks, f.hooks...)
		maps.Copy(sum.handlers, f.handlers)
		sum.crds = append(sum.crds, f.crds...)
	}
	return sum, nil
}
