package admit

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/webhook/convert"
)

// Version is one served version of a kind whose hub is H: how to read it, how to write it, and how its
// users name the hub's fields.
type Version[H client.Object] struct {
	// Decode returns the hub form of raw.
	Decode func(raw []byte) (H, error)
	// Encode writes a hub object in this version.
	Encode func(H) ([]byte, error)
	// Errors rewrites errors about the hub in the words of this version; nil leaves them.
	Errors func(field.ErrorList) field.ErrorList
}

// Kind holds the served versions of a kind by name, such as "v1beta1".
type Kind[H client.Object] map[string]Version[H]

// Hub returns the version that all logic speaks. H is a pointer to T.
func Hub[T any, H interface {
	client.Object
	*T
}]() Version[H] {
	return Version[H]{
		Decode: func(raw []byte) (H, error) { return decode[T](raw) },
		Encode: func(hub H) ([]byte, error) { return json.Marshal(hub) },
	}
}

// Spoke returns version apiVersion, which is converted to version hub of the same kind and back.
//
// What only the hub can say is left out of the encoding. It is there twice, before and after a change,
// and would only show up in a patch as a record of what the request never said; a record that the
// request carries stays as it is, since the patch does not name it.
func Spoke[T any, H interface {
	client.Object
	*T
}](apiVersion, hub string) Version[H] {
	return Version[H]{
		Decode: func(raw []byte) (H, error) {
			tree, err := convertTo(raw, hub)
			if err != nil {
				return nil, err
			}
			converted, err := json.Marshal(tree)
			if err != nil {
				return nil, fmt.Errorf("encoding converted object: %w", err)
			}
			return decode[T](converted)
		},
		Encode: func(object H) ([]byte, error) {
			raw, err := json.Marshal(object)
			if err != nil {
				return nil, fmt.Errorf("encoding object: %w", err)
			}
			tree, err := convertTo(raw, apiVersion)
			if err != nil {
				return nil, err
			}
			dropRecord(tree)
			return json.Marshal(tree)
		},
	}
}

func convertTo(raw []byte, apiVersion string) (map[string]any, error) {
	tree, err := decode[map[string]any](raw)
	if err != nil {
		return nil, err
	}
	converted, err := convert.To(*tree, apiVersion)
	if err != nil {
		return nil, err
	}
	return converted.Object, nil
}

func dropRecord(tree map[string]any) {
	path := []string{"metadata", "annotations"}
	unstructured.RemoveNestedField(tree, append(path, wire.AnnotationOtherVersion)...)
	// An object without annotations has none of its own that could be lost here.
	if annotations, found, err := unstructured.NestedMap(tree, path...); found && err == nil && len(annotations) == 0 {
		unstructured.RemoveNestedField(tree, path...)
	}
}

// decode reads JSON as the API server does: names are case sensitive, unknown fields are skipped.
func decode[T any](raw []byte) (*T, error) {
	object := new(T)
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, object); err != nil {
		return nil, fmt.Errorf("decoding object: %w", err)
	}
	return object, nil
}
