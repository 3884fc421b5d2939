package admit

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"

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
func Spoke[T any, H interface {
	client.Object
	*T
}](apiVersion, hub string) Version[H] {
	return Version[H]{
		Decode: func(raw []byte) (H, error) {
			converted, err := convertJSON(raw, hub)
			if err != nil {
				return nil, err
			}
			return decode[T](converted)
		},
		Encode: func(object H) ([]byte, error) {
			raw, err := json.Marshal(object)
			if err != nil {
				return nil, fmt.Errorf("encoding object: %w", err)
			}
			return convertJSON(raw, apiVersion)
		},
	}
}

func convertJSON(raw []byte, apiVersion string) ([]byte, error) {
	tree, err := decode[map[string]any](raw)
	if err != nil {
		return nil, err
	}
	converted, err := convert.To(*tree, apiVersion)
	if err != nil {
		return nil, err
	}
	return json.Marshal(converted.Object)
}

// decode reads JSON as the API server does: names are case sensitive, unknown fields are skipped.
func decode[T any](raw []byte) (*T, error) {
	object := new(T)
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, object); err != nil {
		return nil, fmt.Errorf("decoding object: %w", err)
	}
	return object, nil
}
