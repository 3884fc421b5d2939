package convert

import (
	"k8s.io/apimachinery/pkg/util/json"
)

// unmarshal decodes JSON the way all objects here are decoded: whole numbers become int64.
func unmarshal(raw []byte, into any) error { return json.Unmarshal(raw, into) }

// childMap follows keys downwards; it returns nil if any of them does not lead to a map. Reading from
// the nil map is fine.
func childMap(obj map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		obj, _ = obj[key].(map[string]any)
	}
	return obj
}

// ensureMap returns the map at key and puts an empty one there if there is none.
func ensureMap(obj map[string]any, key string) map[string]any {
	child, isMap := obj[key].(map[string]any)
	if !isMap {
		child = map[string]any{}
		obj[key] = child
	}
	return child
}

// metadataText returns a label or an annotation: kind is the name of the map. It is empty if absent.
func metadataText(obj map[string]any, kind, key string) string {
	text, _ := childMap(obj, "metadata", kind)[key].(string)
	return text
}

// setMetadata sets a label or an annotation.
func setMetadata(obj map[string]any, kind, key, text string) {
	ensureMap(ensureMap(obj, "metadata"), kind)[key] = text
}

// dropMetadata removes a label or an annotation, and the map with it if it was the last.
func dropMetadata(obj map[string]any, kind, key string) {
	delete(childMap(obj, "metadata", kind), key)
	dropIfEmpty(childMap(obj, "metadata"), kind)
}

// dropIfEmpty removes the map at key if nothing is in it.
func dropIfEmpty(obj map[string]any, key string) {
	if child, isMap := obj[key].(map[string]any); isMap && len(child) == 0 {
		delete(obj, key)
	}
}

// blank tells whether a value says nothing: absent, false, or a map of nothing else.
func blank(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case map[string]any:
		for _, child := range v {
			if !blank(child) {
				return false
			}
		}
		return true
	default:
		return false
	}
}
