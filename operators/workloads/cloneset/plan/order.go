package plan

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/ordering"
)

// inUpdateOrder arranges update candidates (SO-1): by the user's priorities, then the pods that matter
// least first (SO-2); then scattered; then those that already wait in PreparingUpdate before all others.
func inUpdateOrder(w *World, candidates []*Pod) []*Pod {
	slices.SortFunc(candidates, byUpdateOrder)
	if len(w.Scatter) > 0 {
		candidates = scattered(w, candidates)
	}
	slices.SortStableFunc(candidates, func(a, b *Pod) int {
		return firstIf(a.State == wire.LifecyclePreparingUpdate, b.State == wire.LifecyclePreparingUpdate)
	})
	return candidates
}

func byUpdateOrder(a, b *Pod) int {
	return cmp.Or(
		a.Order.Rank.Compare(b.Order.Rank),
		firstIf(a.Order.Node == "", b.Order.Node == ""),
		cmp.Compare(phaseRank(a.Order.Phase), phaseRank(b.Order.Phase)),
		firstIf(!a.Order.ConditionReady, !b.Order.ConditionReady),
		byReadySince(a, b),
		cmp.Compare(b.Order.Restarts, a.Order.Restarts),
		byCreation(a, b),
		cmp.Compare(a.Name, b.Name),
	)
}

func scattered(w *World, candidates []*Pod) []*Pod {
	all := make([]map[string]string, len(w.Pods))
	position := make(map[string]int, len(w.Pods))
	for i := range w.Pods {
		all[i] = w.Pods[i].Labels
		position[w.Pods[i].Name] = i
	}
	waiting := make([]int, len(candidates))
	for i, p := range candidates {
		waiting[i] = position[p.Name]
	}
	for i, pod := range ordering.Scatter(w.Scatter, all, waiting) {
		candidates[i] = &w.Pods[pod]
	}
	return candidates
}

// byDeletionOrder sorts the pods of one side for scaling in, the first to go first (CS-91). rank is
// the crowding of the pod's node (CS-92).
func byDeletionOrder(rank map[string]int) func(a, b *Pod) int {
	return func(a, b *Pod) int {
		return cmp.Or(
			firstIf(a.Order.Node == "", b.Order.Node == ""),
			cmp.Compare(phaseRank(a.Order.Phase), phaseRank(b.Order.Phase)),
			firstIf(!a.Available, !b.Available),
			firstIf(!a.Order.ConditionReady, !b.Order.ConditionReady),
			cmp.Compare(a.Order.DeletionCost, b.Order.DeletionCost),
			cmp.Compare(rank[b.Name], rank[a.Name]),
			byReadySince(a, b),
			cmp.Compare(b.Order.Restarts, a.Order.Restarts),
			byCreation(a, b),
			cmp.Compare(a.Name, b.Name),
		)
	}
}

// sameNodeRank ranks pods by how crowded their node is with pods of the same group: the pods of a
// node with k of them get k-1 down to 0 in deletion order, so that stacked nodes are thinned first
// (CS-92).
func sameNodeRank(pods []*Pod) map[string]int {
	perNode := map[string][]*Pod{}
	for _, p := range pods {
		if p.Order.Node != "" {
			perNode[p.Order.Node] = append(perNode[p.Order.Node], p)
		}
	}
	rank := make(map[string]int, len(pods))
	for _, group := range perNode {
		if len(group) == 1 {
			continue
		}
		slices.SortFunc(group, func(a, b *Pod) int {
			return cmp.Or(
				cmp.Compare(phaseRank(a.Order.Phase), phaseRank(b.Order.Phase)),
				firstIf(!a.Order.ConditionReady, !b.Order.ConditionReady),
				cmp.Compare(a.Order.DeletionCost, b.Order.DeletionCost),
				byReadySince(a, b),
				cmp.Compare(b.Order.Restarts, a.Order.Restarts),
				byCreation(a, b),
				cmp.Compare(a.Name, b.Name),
			)
		})
		for i, p := range group {
			rank[p.Name] = len(group) - 1 - i
		}
	}
	return rank
}

// firstIf orders the one for which the statement holds before the one for which it does not.
func firstIf(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

func phaseRank(p corev1.PodPhase) int {
	switch p {
	case corev1.PodRunning:
		return 2
	case corev1.PodUnknown:
		return 1
	default:
		return 0
	}
}

// byReadySince compares only two ready pods: unknown time first, then the more recent.
func byReadySince(a, b *Pod) int {
	if !a.Order.ConditionReady || !b.Order.ConditionReady {
		return 0
	}
	return cmp.Or(
		firstIf(a.Order.ReadySince.IsZero(), b.Order.ReadySince.IsZero()),
		b.Order.ReadySince.Compare(a.Order.ReadySince),
	)
}

// byCreation puts an unknown creation time first, then the newer pod.
func byCreation(a, b *Pod) int {
	return cmp.Or(
		firstIf(a.Order.Created.IsZero(), b.Order.Created.IsZero()),
		b.Order.Created.Compare(a.Order.Created),
	)
}
