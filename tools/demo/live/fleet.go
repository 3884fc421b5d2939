package live

import (
	_ "embed"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/flotilla-k8s/flotilla/tools/demo/voyage"
)

//go:embed fleet.yaml
var fleetYAML string

// Namespace holds everything the demo makes.
const Namespace = "demo"

// repository of the image that the demo's pods run.
const repository = "flotilla/test-server"

// Policies of the two sets.
const (
	InPlace  = "InPlaceIfPossible"
	ReCreate = "ReCreate"
)

// Set says how one of the demo's CloneSets should be.
type Set struct {
	// Name of the set and value of its pods' label "app".
	Name   string
	Policy string
	// Tag of the image, and how many pods keep their older one.
	Tag       string
	Partition int
}

// CloneSet returns the object to apply.
func (s Set) CloneSet() (*unstructured.Unstructured, error) {
	object, err := document(0)
	if err != nil {
		return nil, err
	}
	labels := map[string]any{"app": s.Name}
	rolling := []string{"spec", "updateStrategy", "rollingUpdate"}
	object.SetName(s.Name)
	for _, set := range []struct {
		value any
		path  []string
	}{
		{labels, []string{"spec", "selector", "matchLabels"}},
		{labels, []string{"spec", "template", "metadata", "labels"}},
		{int64(voyage.Replicas), []string{"spec", "replicas"}},
		{s.Policy, append(rolling[:3:3], "podUpdatePolicy")},
		{int64(voyage.MaxUnavailable), append(rolling[:3:3], "maxUnavailable")},
		{int64(s.Partition), append(rolling[:3:3], "partition")},
		{int64(voyage.DrainSeconds), append(rolling[:3:3], "inPlaceUpdateStrategy", "gracePeriodSeconds")},
	} {
		if err := unstructured.SetNestedField(object.Object, set.value, set.path...); err != nil {
			return nil, fmt.Errorf("setting %s of the demo's set: %w", strings.Join(set.path, "."), err)
		}
	}
	return object, s.fillPod(object)
}

// fillPod sets what stands in lists of the pod template.
func (s Set) fillPod(object *unstructured.Unstructured) error {
	pod := []string{"spec", "template", "spec"}
	for list, fill := range map[string]func(map[string]any) error{
		"containers": func(c map[string]any) error {
			c["image"] = repository + ":" + s.Tag
			return nil
		},
		"topologySpreadConstraints": func(c map[string]any) error {
			return unstructured.SetNestedField(c, s.Name, "labelSelector", "matchLabels", "app")
		},
	} {
		items, _, err := unstructured.NestedSlice(object.Object, append(pod[:3:3], list)...)
		if err != nil {
			return fmt.Errorf("reading %s of the demo's set: %w", list, err)
		}
		only, ok := items[0].(map[string]any)
		if !ok {
			return fmt.Errorf("reading %s of the demo's set: not an object", list)
		}
		if err := fill(only); err != nil {
			return fmt.Errorf("setting %s of the demo's set: %w", list, err)
		}
		if err := unstructured.SetNestedSlice(object.Object, items, append(pod[:3:3], list)...); err != nil {
			return fmt.Errorf("setting %s of the demo's set: %w", list, err)
		}
	}
	return nil
}

// Service returns the Service in front of the set, which a load can be sent to.
func (s Set) Service() (*unstructured.Unstructured, error) {
	object, err := document(1)
	if err != nil {
		return nil, err
	}
	object.SetName(s.Name)
	if err := unstructured.SetNestedField(object.Object, s.Name, "spec", "selector", "app"); err != nil {
		return nil, fmt.Errorf("setting the selector of the demo's Service: %w", err)
	}
	return object, nil
}

// NamespaceObject returns the demo's namespace.
func NamespaceObject() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("v1")
	object.SetKind("Namespace")
	object.SetName(Namespace)
	return object
}

func document(index int) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(strings.Split(fleetYAML, "\n---\n")[index]), object); err != nil {
		return nil, fmt.Errorf("reading the demo's objects: %w", err)
	}
	return object, nil
}
