package admit

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"
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

// Spoke returns a version that is converted to the hub and back.
func Spoke[S any, H client.Object](toHub func(*S) (H, error), fromHub func(H) (*S, error)) Version[H] {
	return Version[H]{
		Decode: func(raw []byte) (H, error) {
			spoke, err := decode[S](raw)
			if err != nil {
				var none H
				return none, err
			}
			return toHub(spoke)
		},
		Encode: func(hub H) ([]byte, error) {
			spoke, err := fromHub(hub)
			if err != nil {
				return nil, err
			}
			return json.Marshal(spoke)
		},
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
