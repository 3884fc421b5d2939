package registration

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// entryName reads a hook as these tests write it: "name" or "name=content".
func entryName(entry string) string {
	name, _, _ := strings.Cut(entry, "=")
	return name
}

func TestMerge(t *testing.T) {
	for _, c := range []struct {
		name               string
		live, wanted, want []string
	}{
		{"WH-81: into an empty list", nil, []string{"mpod.kb.io", "mcloneset.kb.io"}, []string{"mpod.kb.io", "mcloneset.kb.io"}},
		{"WH-81: hooks of others stay as and where they are",
			[]string{"a.example.org", "mpod.kb.io=old", "b.example.org"}, []string{"mpod.kb.io"},
			[]string{"a.example.org", "mpod.kb.io", "b.example.org"}},
		{"WH-81: a new hook of ours comes last", []string{"a.example.org"}, []string{"mpod.kb.io"}, []string{"a.example.org", "mpod.kb.io"}},
		{"WH-9: ours that nobody wants goes", []string{"mpod.kb.io", "a.example.org", "msidecarset.kb.io"}, []string{"mpod.kb.io"},
			[]string{"mpod.kb.io", "a.example.org"}},
		{"WH-9: all of ours go", []string{"mpod.kb.io", "a.example.org"}, nil, []string{"a.example.org"}},
		{"WH-81: ours in double becomes one", []string{"mpod.kb.io=1", "mpod.kb.io=2"}, []string{"mpod.kb.io"}, []string{"mpod.kb.io"}},
		{"WH-81: others in double stay", []string{"a.example.org=1", "a.example.org=2"}, nil, []string{"a.example.org=1", "a.example.org=2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := merge(c.live, c.wanted, entryName); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestMergeProperty(t *testing.T) {
	foreign := []string{"a.example.org=1", "a.example.org=2", "b.example.org"}
	ours := []string{"mpod.kb.io", "mcloneset.kb.io", "vcloneset.kb.io", "vcloneset-delete.kb.io"}
	stale := []string{"msidecarset.kb.io", "mpod.kb.io=old", "vcloneset.kb.io=old"}
	isForeign := func(entry string) bool { return slices.Contains(foreign, entry) }
	isOurs := func(entry string) bool { return !isForeign(entry) }

	rapid.Check(t, func(t *rapid.T) {
		live := rapid.SliceOf(rapid.SampledFrom(slices.Concat(foreign, ours, stale))).Draw(t, "live")
		wanted := rapid.SliceOfNDistinct(rapid.SampledFrom(ours), 0, -1, rapid.ID[string]).Draw(t, "wanted")
		got := merge(live, wanted, entryName)

		only := func(list []string, drop func(string) bool) []string {
			return slices.DeleteFunc(slices.Clone(list), drop)
		}
		if !slices.Equal(only(got, isOurs), only(live, isOurs)) {
			t.Errorf("WH-81: hooks of others changed from %v to %v", live, got)
		}
		if !slices.Equal(slices.Sorted(slices.Values(only(got, isForeign))), slices.Sorted(slices.Values(wanted))) {
			t.Errorf("WH-9: %v of %v does not hold exactly %v of ours", got, live, wanted)
		}
		if again := merge(got, wanted, entryName); !slices.Equal(again, got) {
			t.Errorf("WH-97: merged again, %v becomes %v", got, again)
		}
	})
}
