package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// record is the JSON of wire.AnnotationOtherVersion: by version name, the fields of that version that
// the version in which the annotation is seen cannot say.
type record map[string][]kept

// kept is one such field.
type kept struct {
	// Path leads to the field from the top of the object.
	Path []string `json:"path"`
	// Is is the value to restore; nil if the field has to be absent.
	Is any `json:"is,omitempty"`
	// Shows is what the plain rules make of the other version's view; nil if they leave it out. Is is
	// restored only where Shows is found.
	Shows any `json:"shows,omitempty"`
}

// decodeRecord reads the text of the annotation.
func decodeRecord(text string) (record, error) {
	var r record
	if err := unmarshal([]byte(text), &r); err != nil {
		return nil, fmt.Errorf("decoding the kept fields: %w", err)
	}
	return r, nil
}

// encode writes the text of the annotation. The values come from JSON, so that they can be JSON again.
func (r record) encode() string {
	raw, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("encoding fields that were decoded from JSON: %v", err))
	}
	return string(raw)
}

// differences lists the fields in which is and shows differ, in the order of their paths: below spec,
// and the labels and annotations one by one.
func differences(is, shows map[string]any) []kept {
	var found []kept
	for _, name := range []string{"annotations", "labels"} {
		path := []string{"metadata", name}
		found = appendChildren(found, path, childMap(is, path...), childMap(shows, path...))
	}
	return appendField(found, []string{"spec"}, is["spec"], shows["spec"])
}

func appendChildren(found []kept, path []string, is, shows map[string]any) []kept {
	keys := slices.Collect(maps.Keys(is))
	for key := range shows {
		if _, both := is[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		found = appendField(found, slices.Concat(path, []string{key}), is[key], shows[key])
	}
	return found
}

func appendField(found []kept, path []string, is, shows any) []kept {
	isMap, isOK := is.(map[string]any)
	showsMap, showsOK := shows.(map[string]any)
	switch {
	case isOK && showsOK:
		return appendChildren(found, path, isMap, showsMap)
	case reflect.DeepEqual(is, shows):
		return found
	default:
		return append(found, kept{Path: path, Is: is, Shows: shows})
	}
}

func (k kept) name() string { return strings.Join(k.Path, ".") }

// restored returns obj with the field as it is kept, or false if the object has another value there
// than the one that stands for it.
func (k kept) restored(obj map[string]any) (map[string]any, bool) {
	if len(k.Path) < 2 || (k.Path[0] != "spec" && k.Path[0] != "metadata") {
		return nil, false
	}
	obj = runtime.DeepCopyJSON(obj)
	last := len(k.Path) - 1
	parent := obj
	for _, key := range k.Path[:last] {
		next, isMap := parent[key].(map[string]any)
		if !isMap {
			if parent[key] != nil || k.Is == nil {
				return nil, false
			}
			next = map[string]any{}
			parent[key] = next
		}
		parent = next
	}
	if !reflect.DeepEqual(parent[k.Path[last]], k.Shows) {
		return nil, false
	}
	if k.Is != nil {
		parent[k.Path[last]] = runtime.DeepCopyJSONValue(k.Is)
		return obj, true
	}
	delete(parent, k.Path[last])
	if k.Path[0] == "metadata" {
		dropIfEmpty(childMap(obj, k.Path[:last-1]...), k.Path[last-1])
	}
	return obj, true
}
