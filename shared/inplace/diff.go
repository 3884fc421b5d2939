package inplace

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The three operations of a difference, as in RFC 6902.
const (
	added    = "added"
	removed  = "removed"
	replaced = "changed"
)

// operation is one difference between two JSON trees.
type operation struct {
	// path are the keys and list indexes that lead to it.
	path []any
	// words is the path for users, with list elements by name where they have one.
	words string
	kind  string
	// old and new are the values; nil where there is none.
	old, new any
}

// diff returns the differences between two JSON trees in a stable order. Lists are compared index by
// index, so that a container that was moved or renamed differs in its name. Source: IP-9, IP-11.
func diff(words string, old, new any) []operation {
	d := &differ{}
	d.compare(nil, words, old, new)
	return d.found
}

type differ struct{ found []operation }

func (d *differ) compare(path []any, words string, old, new any) {
	switch oldValue := old.(type) {
	case map[string]any:
		if newValue, ok := new.(map[string]any); ok {
			d.compareMaps(path, words, oldValue, newValue)
			return
		}
	case []any:
		if newValue, ok := new.([]any); ok {
			d.compareLists(path, words, oldValue, newValue)
			return
		}
	default:
		if !isTree(new) && old == new {
			return
		}
	}
	d.add(operation{path: path, words: words, kind: replaced, old: old, new: new})
}

func (d *differ) compareMaps(path []any, words string, old, new map[string]any) {
	keys := slices.Sorted(maps.Keys(old))
	for key := range new {
		if _, found := old[key]; !found {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		oldValue, inOld := old[key]
		newValue, inNew := new[key]
		d.compareElements(extend(path, key), strings.TrimPrefix(words+"."+key, "."), oldValue, newValue, inOld, inNew)
	}
}

func (d *differ) compareLists(path []any, words string, old, new []any) {
	for i := range max(len(old), len(new)) {
		var oldValue, newValue any
		if i < len(old) {
			oldValue = old[i]
		}
		if i < len(new) {
			newValue = new[i]
		}
		at := fmt.Sprintf("%s[%s]", words, elementName(i, oldValue, newValue))
		d.compareElements(extend(path, i), at, oldValue, newValue, i < len(old), i < len(new))
	}
}

func (d *differ) compareElements(path []any, words string, old, new any, inOld, inNew bool) {
	switch {
	case !inOld:
		d.add(operation{path: path, words: words, kind: added, new: new})
	case !inNew:
		d.add(operation{path: path, words: words, kind: removed, old: old})
	default:
		d.compare(path, words, old, new)
	}
}

func (d *differ) add(op operation) { d.found = append(d.found, op) }

// elementName calls a list element by its name, or by its index if it has none or another one in
// the other tree.
func elementName(index int, old, new any) string {
	oldName, newName := nameOf(old), nameOf(new)
	switch {
	case oldName != "" && (newName == oldName || new == nil):
		return oldName
	case newName != "" && old == nil:
		return newName
	}
	return fmt.Sprint(index)
}

func nameOf(element any) string {
	object, _ := element.(map[string]any)
	name, _ := object["name"].(string)
	return name
}

func isTree(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// extend returns a path that does not share memory with the given one.
func extend(path []any, step any) []any { return append(slices.Clone(path), step) }
