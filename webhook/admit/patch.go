package admit

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
)

// Patch returns the JSON patch that brings to raw what changed from before to after. The two are
// encodings of the same typed object, so whatever the types do not know is in neither and stays as it is
// in raw; and where a change lies below an object that raw lacks, the patch adds that object with
// nothing else in it. No change gives no operation. Source: WH-148, WH-149.
func Patch(raw, before, after []byte) ([]jsonpatch.JsonPatchOperation, error) {
	var trees [3]any
	for i, data := range [][]byte{raw, before, after} {
		if err := json.Unmarshal(data, &trees[i]); err != nil {
			return nil, fmt.Errorf("decoding object to compare: %w", err)
		}
	}
	var p patcher
	p.compare("", trees[0], true, trees[1], trees[2])
	return p.operations, nil
}

type patcher struct {
	operations []jsonpatch.JsonPatchOperation
}

// compare emits what leads from before to after, at a place where raw may hold nothing.
func (p *patcher) compare(path string, raw any, inRaw bool, before, after any) {
	if reflect.DeepEqual(before, after) || inRaw && reflect.DeepEqual(raw, after) {
		return
	}
	if b, a, ok := both[map[string]any](before, after); ok {
		p.compareObjects(path, raw, inRaw, b, a)
		return
	}
	if b, a, ok := both[[]any](before, after); ok {
		if r, isList := raw.([]any); isList && len(r) == len(b) && len(b) == len(a) {
			for i := range a {
				p.compare(path+"/"+strconv.Itoa(i), r[i], true, b[i], a[i])
			}
			return
		}
	}
	p.set(path, inRaw, after)
}

func (p *patcher) compareObjects(path string, raw any, inRaw bool, before, after map[string]any) {
	object, isObject := raw.(map[string]any)
	if !isObject {
		p.set(path, inRaw, changes(before, after))
		return
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if _, kept := after[key]; kept {
			continue
		}
		if _, found := object[key]; found {
			p.operations = append(p.operations, jsonpatch.NewOperation("remove", child(path, key), nil))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(after)) {
		value, found := object[key]
		p.compare(child(path, key), value, found, before[key], after[key])
	}
}

func (p *patcher) set(path string, replace bool, value any) {
	operation := "add"
	if replace {
		operation = "replace"
	}
	p.operations = append(p.operations, jsonpatch.NewOperation(operation, path, value))
}

// changes returns what after has and before has not, without the parts that are the same in both.
func changes(before, after map[string]any) map[string]any {
	changed := map[string]any{}
	for key, a := range after {
		b := before[key]
		if reflect.DeepEqual(b, a) {
			continue
		}
		changed[key] = a
		if bMap, aMap, ok := both[map[string]any](b, a); ok {
			changed[key] = changes(bMap, aMap)
		}
	}
	return changed
}

func both[T any](x, y any) (T, T, bool) {
	a, okA := x.(T)
	b, okB := y.(T)
	return a, b, okA && okB
}

// child appends a member name to a JSON pointer (RFC 6901).
func child(path, key string) string {
	return path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}
