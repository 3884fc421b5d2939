package containerhash

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Env names that SidecarSet injects and that follow its own upgrades; they are no reason to restart
// a container (IP-20).
const (
	envSidecarSetVersion    = "SIDECARSET_VERSION"
	envSidecarSetVersionAlt = "SIDECARSET_VERSION_ALT"
)

// Source says which map of the pod's metadata an env entry reads.
type Source string

// Sources of env values in the metadata of a pod.
const (
	Labels      Source = "metadata.labels"
	Annotations Source = "metadata.annotations"
)

// Reference is one env entry that reads a label or an annotation of the pod.
type Reference struct {
	// Env is the name of the env entry.
	Env    string
	Source Source
	Key    string
}

// References returns the env entries of a container that read one label or annotation of its pod, in
// the order of the spec. Entries with a literal value, from other sources, and those that SidecarSet
// injects do not count. Source: IP-20.
func References(container *corev1.Container) []Reference {
	var refs []Reference
	for _, env := range container.Env {
		if env.Name == envSidecarSetVersion || env.Name == envSidecarSetVersionAlt {
			continue
		}
		if env.Value != "" || env.ValueFrom == nil || env.ValueFrom.FieldRef == nil {
			continue
		}
		if source, key, ok := splitFieldPath(env.ValueFrom.FieldRef.FieldPath); ok {
			refs = append(refs, Reference{Env: env.Name, Source: source, Key: key})
		}
	}
	return refs
}

// splitFieldPath reads metadata.labels['key'] and metadata.annotations['key'].
func splitFieldPath(path string) (Source, string, bool) {
	for _, source := range []Source{Labels, Annotations} {
		subscript, found := strings.CutPrefix(path, string(source)+"['")
		if !found {
			continue
		}
		key, found := strings.CutSuffix(subscript, "']")
		return source, key, found
	}
	return "", "", false
}

// envValue is the form in which one value is hashed; an empty value is left out (IP-85).
type envValue struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

// EnvFromMetadata returns the hash of what the env entries of a container that read metadata should
// hold, given the labels and annotations that its pod has now. Source: IP-78, IP-85.
func EnvFromMetadata(container *corev1.Container, metadata metav1.Object) (uint64, error) {
	values := map[string]string{}
	for _, ref := range References(container) {
		values[ref.Env], _ = ref.Lookup(metadata)
	}
	return EnvValues(container, func(name string) string { return values[name] })
}

// Lookup returns what the entry reads from the metadata, and whether the key is there.
func (r Reference) Lookup(metadata metav1.Object) (value string, found bool) {
	if r.Source == Labels {
		value, found = metadata.GetLabels()[r.Key]
	} else {
		value, found = metadata.GetAnnotations()[r.Key]
	}
	return value, found
}

// EnvValues returns the hash of what the env entries of a container that read metadata hold, with
// the values, such as those of the running container, given by name. Source: IP-85.
func EnvValues(container *corev1.Container, value func(name string) string) (uint64, error) {
	// The reference hashes a nil list, JSON null, for a container without such entries.
	var list []envValue
	for _, ref := range References(container) {
		list = append(list, envValue{Name: ref.Env, Value: value(ref.Env)})
	}
	slices.SortStableFunc(list, func(a, b envValue) int { return cmp.Compare(a.Name, b.Name) })
	raw, err := json.Marshal(list)
	if err != nil {
		return 0, fmt.Errorf("encoding env of container %s: %w", container.Name, err)
	}
	return OfJSON(raw), nil
}
