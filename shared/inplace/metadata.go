package inplace

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/flotilla-k8s/flotilla/shared/containerhash"
)

// takeMetadata adds the differences of the template metadata to the change. What a container's env
// reads goes with its container, the rest into the metadata patch. A key that is removed has no new
// value to wait for: it leaves with the patch, and still counts as a change of env. Source: IP-15,
// IP-20 to IP-23, P-8.
func (c *Change) takeMetadata(old, new *corev1.PodTemplateSpec, gates Gates) error {
	target := patchable(&new.ObjectMeta)
	if gates.EnvFromMetadata {
		for i := range new.Spec.Containers {
			c.takeReferences(&new.Spec.Containers[i], &old.ObjectMeta, &new.ObjectMeta)
		}
		for _, meta := range c.RefMetadata {
			restore(target.Labels, meta.Labels, old.Labels)
			restore(target.Annotations, meta.Annotations, old.Annotations)
		}
	}
	patch, err := metadataPatch(patchable(&old.ObjectMeta), target)
	if err != nil {
		return err
	}
	c.MetadataPatch = patch
	return nil
}

func (c *Change) takeReferences(container *corev1.Container, old, new *metav1.ObjectMeta) {
	for _, ref := range containerhash.References(container) {
		oldValue, inOld := ref.Lookup(old)
		newValue, inNew := ref.Lookup(new)
		if inOld == inNew && oldValue == newValue {
			continue
		}
		c.EnvFromMetadata = true
		if !inNew {
			continue
		}
		if c.RefMetadata == nil {
			c.RefMetadata = map[string]metav1.ObjectMeta{}
		}
		meta := c.RefMetadata[container.Name]
		if ref.Source == containerhash.Labels {
			metav1.SetMetaDataLabel(&meta, ref.Key, newValue)
		} else {
			metav1.SetMetaDataAnnotation(&meta, ref.Key, newValue)
		}
		c.RefMetadata[container.Name] = meta
	}
}

// restore gives the keys of taken their old values in target, so that target does not differ from
// old in them any more.
func restore(target, taken, old map[string]string) {
	for key := range taken {
		if value, found := old[key]; found {
			target[key] = value
		} else {
			delete(target, key)
		}
	}
}

// patchable returns a copy of the metadata that a template shares with its pods. Name and the like
// are allowed to differ and mean nothing to a pod that exists.
func patchable(meta *metav1.ObjectMeta) *metav1.ObjectMeta {
	return &metav1.ObjectMeta{
		Labels:      maps.Clone(meta.Labels),
		Annotations: maps.Clone(meta.Annotations),
		Finalizers:  meta.DeepCopy().Finalizers,
	}
}

// metadataPatch returns the strategic merge patch of a pod from old to new metadata, or nil if they
// are equal. It names changed keys and finalizers only: what neither template has stays on the pod,
// also when the template loses its last label or finalizer. Source: IP-15 to IP-17.
func metadataPatch(old, new *metav1.ObjectMeta) ([]byte, error) {
	metadata := map[string]any{}
	put := func(field string, value map[string]any) {
		if len(value) > 0 {
			metadata[field] = value
		}
	}
	put("labels", changedValues(old.Labels, new.Labels))
	put("annotations", changedValues(old.Annotations, new.Annotations))
	if removed := subtract(old.Finalizers, new.Finalizers); len(removed) > 0 {
		metadata["$deleteFromPrimitiveList/finalizers"] = removed
	}
	if added := subtract(new.Finalizers, old.Finalizers); len(added) > 0 {
		metadata["finalizers"] = added
	}
	if len(metadata) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return nil, fmt.Errorf("encoding the metadata patch: %w", err)
	}
	return raw, nil
}

// changedValues returns the values that new sets, and nil for those that it removes.
func changedValues(old, new map[string]string) map[string]any {
	out := map[string]any{}
	for key, value := range new {
		if before, found := old[key]; !found || before != value {
			out[key] = value
		}
	}
	for key := range old {
		if _, found := new[key]; !found {
			out[key] = nil
		}
	}
	return out
}

// subtract returns the elements of a that b does not have.
func subtract(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// patchMetadata applies a patch of metadataPatch, or one that the reference recorded, to a pod.
func patchMetadata(pod *corev1.Pod, patch []byte) error {
	if len(patch) == 0 {
		return nil
	}
	raw, err := json.Marshal(corev1.Pod{ObjectMeta: *patchable(&pod.ObjectMeta)})
	if err != nil {
		return fmt.Errorf("encoding metadata of the pod: %w", err)
	}
	patched, err := strategicpatch.StrategicMergePatch(raw, patch, corev1.Pod{})
	if err != nil {
		return fmt.Errorf("applying the metadata patch: %w", err)
	}
	var out corev1.Pod
	if err := json.Unmarshal(patched, &out); err != nil {
		return fmt.Errorf("decoding patched metadata: %w", err)
	}
	pod.Labels, pod.Annotations, pod.Finalizers = out.Labels, out.Annotations, out.Finalizers
	return nil
}
