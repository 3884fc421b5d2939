package ordering

import (
	"slices"

	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
)

// Scatter spreads the waiting pods that carry a term's label over the whole update, so that they are not
// all updated at once (SO-8 to SO-12). waiting are positions in all, in the order so far; it returns
// them rearranged and leaves the input alone.
func Scatter(terms appsv1beta1.UpdateScatterStrategy, all []map[string]string, waiting []int) []int {
	matches := func(term appsv1beta1.UpdateScatterTerm, pod int) bool {
		value, found := all[pod][term.Key]
		return found && value == term.Value
	}
	waiting = slices.Clone(waiting)
	for _, term := range relevant(terms, func(t appsv1beta1.UpdateScatterTerm) int {
		n := 0
		for _, pod := range waiting {
			if matches(t, pod) {
				n++
			}
		}
		return n
	}) {
		var with, without []int
		for _, pod := range waiting {
			if matches(term, pod) {
				with = append(with, pod)
			} else {
				without = append(without, pod)
			}
		}
		total := 0
		for pod := range all {
			if matches(term, pod) {
				total++
			}
		}
		waiting = spread(waiting, with, without, total, len(all)-total)
	}
	return waiting
}

// relevant keeps, of several terms, those that match a waiting pod, the ones with most of them first
// (SO-9).
func relevant(terms appsv1beta1.UpdateScatterStrategy, count func(appsv1beta1.UpdateScatterTerm) int) []appsv1beta1.UpdateScatterTerm {
	if len(terms) < 2 {
		return terms
	}
	counts := map[appsv1beta1.UpdateScatterTerm]int{}
	var kept []appsv1beta1.UpdateScatterTerm
	for _, term := range terms {
		if n := count(term); n > 0 {
			counts[term] = n
			kept = append(kept, term)
		}
	}
	slices.SortStableFunc(kept, func(a, b appsv1beta1.UpdateScatterTerm) int { return counts[b] - counts[a] })
	return kept
}

// spread mixes the pods with the label among those without. total counts all pods of the workload with
// it, others all without, waiting or not: the pattern follows them, so that it goes on from where earlier
// passes were (SO-10 to SO-12).
func spread(order, with, without []int, total, others int) []int {
	if len(with) <= 1 || len(without) <= 1 {
		return order
	}
	last := with[len(with)-1]
	with = with[:len(with)-1]
	total--
	m, u := len(with), len(without)
	// others/total >= u/m without dividing.
	sizes, remainder := groupOf(m, u), 0
	if others*m < u*total {
		sizes = groupOf(total, others)
		sizes.n = min(m/sizes.with, u/sizes.without)
		remainder = u - sizes.n*sizes.without
	}
	out := make([]int, 0, len(order))
	take := func(from *[]int, n int) {
		n = max(min(n, len(*from)), 0)
		out = append(out, (*from)[:n]...)
		*from = (*from)[n:]
	}
	take(&without, remainder)
	for range sizes.n {
		take(&with, sizes.with)
		take(&without, sizes.without)
	}
	take(&with, len(with))
	take(&without, len(without))
	return append(out, last)
}

// group says how many pods of each side follow each other, and how often.
type group struct{ n, with, without int }

// groupOf divides both sides into as many groups as the smaller one has pods, sizes rounded half away
// from zero (SO-11).
func groupOf(with, without int) group {
	n := min(with, without)
	if n == 0 {
		return group{0, max(with, 1), max(without, 1)}
	}
	return group{n, (2*with + n) / (2 * n), (2*without + n) / (2 * n)}
}
