package admit_test

import (
	"encoding/json"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flotilla-k8s/flotilla/webhook/admit"
)

func TestPatch(t *testing.T) {
	for _, c := range []struct {
		name, raw, before, after string
		want                     string
	}{
		{"WH-57: no change, no patch", `{"a":1,"x":2}`, `{"a":1}`, `{"a":1}`, `null`},
		{"WH-149: an unknown field survives beside a new one", `{"spec":{"new":1}}`, `{"spec":{}}`, `{"spec":{"replicas":1}}`,
			`[{"op":"add","path":"/spec/replicas","value":1}]`},
		{"WH-148: what the encoding always writes is not added", `{"spec":{}}`, `{"spec":{"s":{}},"status":{}}`, `{"spec":{"s":{"t":1}},"status":{}}`,
			`[{"op":"add","path":"/spec/s","value":{"t":1}}]`},
		{"WH-148: a deep change below a missing object", `{}`, `{"a":{"b":{"c":0,"k":1}}}`, `{"a":{"b":{"c":2,"k":1}}}`,
			`[{"op":"add","path":"/a","value":{"b":{"c":2}}}]`},
		{"WH-149: in a list by position", `{"l":[{"n":"x","new":1},{"n":"y"}]}`, `{"l":[{"n":"x"},{"n":"y"}]}`, `{"l":[{"n":"x","p":"A"},{"n":"y","p":"A"}]}`,
			`[{"op":"add","path":"/l/0/p","value":"A"},{"op":"add","path":"/l/1/p","value":"A"}]`},
		{"WH-148: a list that grows is replaced", `{"l":[1]}`, `{"l":[1]}`, `{"l":[1,2]}`, `[{"op":"replace","path":"/l","value":[1,2]}]`},
		{"WH-148: a list that raw lacks is added", `{}`, `{}`, `{"l":[1]}`, `[{"op":"add","path":"/l","value":[1]}]`},
		{"WH-148: other spellings stay", `{"q":"1000m"}`, `{"q":"1"}`, `{"q":"1","r":1}`, `[{"op":"add","path":"/r","value":1}]`},
		{"WH-148: removal", `{"a":1,"b":2}`, `{"a":1,"b":2}`, `{"a":1}`, `[{"op":"remove","path":"/b"}]`},
		{"WH-148: removal of what raw lacks", `{"a":1}`, `{"a":1,"b":2}`, `{"a":1}`, `null`},
		{"WH-148: null counts as nothing", `{"a":null}`, `{}`, `{"a":1}`, `[{"op":"replace","path":"/a","value":1}]`},
		{"RFC 6901: keys are escaped", `{"m":{}}`, `{"m":{}}`, `{"m":{"a/b~c":"d"}}`, `[{"op":"add","path":"/m/a~1b~0c","value":"d"}]`},
		{"WH-148: an empty object is a change", `{}`, `{}`, `{"s":{}}`, `[{"op":"add","path":"/s","value":{}}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			operations, err := admit.Patch([]byte(c.raw), []byte(c.before), []byte(c.after))
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(operations)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestPatchProperties: for objects whose raw form is the encoding without some empty members and with
// unknown ones, the patched object has every member of after, and every unknown one.
func TestPatchProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := objects(2).Draw(t, "before")
		after := objects(2).Draw(t, "after")
		raw := withUnknown(before)
		patched := apply(t, raw, before, after)
		if diff := cmp.Diff(after, withoutUnknown(patched)); diff != "" {
			t.Fatalf("patched object is not the wanted one: %s", diff)
		}
		if patched["unknown"] != "kept" {
			t.Fatal("an unknown member is gone")
		}
		if again := apply(t, patched, after, after); !cmp.Equal(again, patched) {
			t.Fatal("WH-97: a second patch changes something")
		}
	})
}

func objects(depth int) *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		object := map[string]any{}
		for _, key := range []string{"a", "b", "c/d"} {
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 1:
				object[key] = float64(rapid.IntRange(0, 2).Draw(t, "number"))
			case 2:
				object[key] = []any{"x", float64(rapid.IntRange(0, 2).Draw(t, "element"))}
			case 3:
				if depth > 0 {
					object[key] = objects(depth-1).Draw(t, "member")
				}
			}
		}
		return object
	})
}

func withUnknown(object map[string]any) map[string]any {
	raw := map[string]any{"unknown": "kept"}
	for key, value := range object {
		raw[key] = value
		if member, ok := value.(map[string]any); ok {
			raw[key] = withUnknown(member)
		}
	}
	return raw
}

func withoutUnknown(object map[string]any) map[string]any {
	known := map[string]any{}
	for key, value := range object {
		if member, ok := value.(map[string]any); ok {
			value = withoutUnknown(member)
		}
		if key != "unknown" {
			known[key] = value
		}
	}
	return known
}

func apply(t *rapid.T, raw, before, after map[string]any) map[string]any {
	operations, err := admit.Patch(encode(t, raw), encode(t, before), encode(t, after))
	if err != nil {
		t.Fatal(err)
	}
	if operations == nil {
		return raw
	}
	patch, err := jsonpatch.DecodePatch(encode(t, operations))
	if err != nil {
		t.Fatal(err)
	}
	data, err := patch.Apply(encode(t, raw))
	if err != nil {
		t.Fatal(err)
	}
	var patched map[string]any
	if err := json.Unmarshal(data, &patched); err != nil {
		t.Fatal(err)
	}
	return patched
}

func encode(t *rapid.T, v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
