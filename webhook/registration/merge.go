package registration

import "slices"

// merge returns the list that a configuration should hold: hooks of others as and where they are, ours
// as wanted, in their present place or else at the end. Ours that nobody wants are left out.
func merge[W any](live, wanted []W, name func(W) string) []W {
	var merged []W
	placed := map[string]bool{}
	for _, hook := range live {
		i := slices.IndexFunc(wanted, func(w W) bool { return name(w) == name(hook) })
		switch {
		case i >= 0 && !placed[name(hook)]:
			merged = append(merged, wanted[i])
			placed[name(hook)] = true
		case i < 0 && !known(name(hook)):
			merged = append(merged, hook)
		}
	}
	for _, hook := range wanted {
		if !placed[name(hook)] {
			merged = append(merged, hook)
		}
	}
	return merged
}
