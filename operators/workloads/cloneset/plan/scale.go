package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// PhaseScale and PhaseUpdate name the phases; a failed one becomes condition FailedScale or
// FailedUpdate.
const (
	PhaseScale  = "scale"
	PhaseUpdate = "update"
)

// scale plans section 11. Each kind of change is a phase of its own, since each ends the pass.
func scale(w *World, p *Plan) {
	cancelled := cancelDeletions(w)
	p.add(PhaseScale, cancelled...)
	p.add(PhaseScale, finishDeletions(w, cancelled)...)

	c := count(w.Pods, w.bound)
	q := computeQuota(c, w.Limits, w.PartitionRollback)
	if q.up > q.upLimit {
		p.ScaleUpLimit = new(q.upLimit)
		p.await(fmt.Sprintf("scaleStrategy.maxUnavailable holds back %d new pods", q.up-q.upLimit))
	}
	if q.up > 0 {
		p.add(PhaseScale, creations(w, q)...)
		return
	}
	specified, spent := specifiedDeletions(w, q)
	p.add(PhaseScale, specified...)
	if q.down > 0 && c.toDelete() == 0 && c.preDeleting() == 0 {
		p.add(PhaseScale, scaleIn(w, q, q.deleteReadyLimit-spent)...)
	}
}

// cancelDeletions takes pods out of PreparingDelete again when replicas were raised meanwhile, unless
// a hook has made them not ready (CS-76, LC-15).
func cancelDeletions(w *World) []Step {
	if w.Hooks.MarkDeleteNotReady || w.Hooks.MarkUpdateNotReady {
		return nil
	}
	leaving := 0
	var waiting []*Pod
	for i := range w.Pods {
		p := &w.Pods[i]
		preparing := p.State == wire.LifecyclePreparingDelete
		if p.Specified || preparing {
			leaving++
		}
		if preparing && !p.Specified {
			waiting = append(waiting, p)
		}
	}
	missing := w.Limits.Replicas - len(w.Pods) + leaving
	if missing <= 0 {
		return nil
	}
	slices.SortFunc(waiting, byName)
	steps := make([]Step, 0, len(waiting))
	for _, p := range waiting[:min(missing, len(waiting))] {
		steps = append(steps, Step{Action: SetState, Pod: p.Name, State: wire.LifecyclePreparingNormal,
			Reason: "the scale in that chose it was cancelled"})
	}
	return steps
}

// finishDeletions deletes what waits in PreparingDelete and is no longer held. It runs even while
// creations are wanted: a deletion that was decided is always finished (CS-81, C-28).
func finishDeletions(w *World, cancelled []Step) []Step {
	back := make(map[string]bool, len(cancelled))
	for _, s := range cancelled {
		back[s.Pod] = true
	}
	var steps []Step
	for i := range w.Pods {
		p := &w.Pods[i]
		if p.State == wire.LifecyclePreparingDelete && !p.HeldForDelete && !back[p.Name] {
			steps = append(steps, Step{Action: Delete, Pod: p.Name, Reason: "its preDelete hook let go"})
		}
	}
	return steps
}

// creations makes pods, those that the partition keeps at the current revision first (CS-78). What is to
// take the claims of a terminating pod waits for its end.
func creations(w *World, q quota) []Step {
	now := min(q.upLimit, max(q.up-w.AwaitedClaims, 0))
	steps := make([]Step, 0, now)
	for i := range now {
		s := Step{Action: Create, Revision: w.Update, Reason: fmt.Sprintf("%d pods are missing", q.up)}
		if i < q.upOld {
			s.Revision = w.Current
		}
		steps = append(steps, s)
	}
	return steps
}

// specifiedDeletions removes pods chosen by the user or by a recreate update: not ready ones always,
// ready ones within the limit (CS-82). It returns how much of the limit it spent.
func specifiedDeletions(w *World, q quota) (steps []Step, spent int) {
	var chosen []*Pod
	for i := range w.Pods {
		if p := &w.Pods[i]; p.Specified && p.State != wire.LifecyclePreparingDelete {
			chosen = append(chosen, p)
		}
	}
	slices.SortFunc(chosen, byName)
	return removals(w, chosen, removal{limit: q.deleteReadyLimit, counts: isReadyForScale, reason: "its deletion was asked for"})
}

// scaleIn removes surplus pods, those at old revisions first (CS-83, CS-90).
func scaleIn(w *World, q quota, readyLimit int) []Step {
	var fresh, old []*Pod
	for i := range w.Pods {
		p := &w.Pods[i]
		if w.bound(p) {
			fresh = append(fresh, p)
		} else {
			old = append(old, p)
		}
	}
	fromOld := min(q.down, q.downOld)
	chosen := slices.Concat(firstToGo(old, fromOld), firstToGo(fresh, q.down-fromOld))
	// A pod that minReadySeconds alone keeps from being available costs no availability (C-14).
	available := func(p *Pod) bool { return p.Available }
	steps, _ := removals(w, chosen, removal{limit: readyLimit, counts: available, reason: "the set has more pods than it should"})
	return steps
}

// firstToGo returns the n pods of a group that go first.
func firstToGo(group []*Pod, n int) []*Pod {
	n = max(min(n, len(group)), 0)
	if n < len(group) {
		slices.SortFunc(group, byDeletionOrder(sameNodeRank(group)))
	} else {
		slices.SortFunc(group, byName)
	}
	return group[:n]
}

// removal says how many pods that count against the limit may go, and why they go.
type removal struct {
	limit  int
	counts func(*Pod) bool
	reason string
}

// removals turns chosen pods into steps. A pod held by its preDelete hook goes to PreparingDelete
// instead (CS-84, LC-13).
func removals(w *World, chosen []*Pod, r removal) (steps []Step, spent int) {
	for _, p := range chosen {
		if r.counts(p) {
			if spent >= r.limit {
				continue
			}
			spent++
		}
		if !p.HeldForDelete {
			steps = append(steps, Step{Action: Delete, Pod: p.Name, Reason: r.reason})
			continue
		}
		s := Step{Action: SetState, Pod: p.Name, State: wire.LifecyclePreparingDelete, Reason: r.reason}
		if w.Hooks.MarkDeleteNotReady {
			s.NotReady = new(true)
		}
		steps = append(steps, s)
	}
	return steps, spent
}

// isReadyForScale is availability with minReadySeconds 0: a ready pod in a state other than Normal
// counts as not ready (CS-82).
func isReadyForScale(p *Pod) bool {
	return p.Ready && (p.State == "" || p.State == wire.LifecycleNormal)
}

func byName(a, b *Pod) int { return cmp.Compare(a.Name, b.Name) }
