package install

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/filters/imagetag"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Render builds a kustomization and pins the images that have a digest to it, so that a changed image is a
// changed pod template. Objects that others live in or are described by come first.
func Render(dir string, digests Digests) ([]*unstructured.Unstructured, error) {
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, fmt.Errorf("building kustomization %s: %w", dir, err)
	}
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		pin := imagetag.LegacyFilter{ImageTag: types.Image{Name: name, Digest: digests[name]}}
		if err := resources.ApplyFilter(pin); err != nil {
			return nil, fmt.Errorf("pinning image %s: %w", name, err)
		}
	}
	var objects []*unstructured.Unstructured
	for _, r := range resources.Resources() {
		object, err := objectOf(r)
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int {
		return cmp.Compare(rank(a.GetKind()), rank(b.GetKind()))
	})
	return objects, nil
}

func objectOf(r *resource.Resource) (*unstructured.Unstructured, error) {
	raw, err := r.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", r.CurId(), err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(raw); err != nil {
		return nil, fmt.Errorf("reading %s: %w", r.CurId(), err)
	}
	return object, nil
}

// rank puts what others need first and what runs last.
func rank(kind string) int {
	switch kind {
	case "Namespace", "CustomResourceDefinition":
		return 0
	case "Deployment", "DaemonSet":
		return 2
	}
	return 1
}

// Runs tells whether an object is a workload, which needs a kubelet.
func Runs(object *unstructured.Unstructured) bool { return rank(object.GetKind()) == 2 }
