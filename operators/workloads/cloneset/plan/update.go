package plan

import (
	"fmt"
	"slices"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/revision"
)

// update plans section 14: every pod gets at most one step, either the one that moves it to another
// revision or the one that carries on what is in flight.
func update(w *World, p *Plan) {
	roll := planRollout(w)
	p.Rolling = len(roll.wanted) > 0 && !w.Limits.Paused
	p.await(roll.waiting)
	moves := make(map[string]*Step, len(roll.chosen))
	for _, pod := range roll.chosen {
		moves[pod.Name] = move(w, pod, roll.target)
	}
	var steps []Step
	for i := range w.Pods {
		pod := &w.Pods[i]
		step, chosen := moves[pod.Name]
		if !chosen {
			step = carryOn(w, pod, roll.wanted[pod.Name])
		}
		if step != nil {
			steps = append(steps, *step)
		}
	}
	slices.SortFunc(steps, func(a, b Step) int { return byName(&Pod{Name: a.Pod}, &Pod{Name: b.Pod}) })
	p.add(PhaseUpdate, steps...)
}

// rollout is which pods are to be moved to which revision.
type rollout struct {
	target string
	// wanted are the pods that partition and replicas want at the target, whether or not they may go
	// now; chosen are those that may.
	wanted  map[string]bool
	chosen  []*Pod
	waiting string // what holds the others back
}

// planRollout chooses the pods to move (CS-105 to CS-109).
func planRollout(w *World) rollout {
	q := computeQuota(count(w.Pods, w.updated), w.Limits, w.PartitionRollback)
	if q.updateNum == 0 {
		return rollout{}
	}
	if w.Limits.OnDelete {
		return rollout{waiting: "update type is OnDelete: pods are updated when they are deleted"}
	}
	r := rollout{target: w.Update, wanted: map[string]bool{}}
	if q.updateNum < 0 {
		r.target = w.Current
	}
	candidates := candidatesFor(w, q.updateNum > 0)
	candidates = candidates[:min(abs(q.updateNum), len(candidates))]
	for _, p := range candidates {
		r.wanted[p.Name] = true
	}
	if w.Limits.Paused {
		r.waiting = "the roll-out is paused"
		return r
	}
	r.chosen = withinBudget(w, candidates, r.target, q.updateMaxUnavailable)
	if held := len(candidates) - len(r.chosen); held > 0 {
		r.waiting = fmt.Sprintf("%d pods wait because maxUnavailable allows %d unavailable pods", held, max(q.updateMaxUnavailable, 0))
	}
	return r
}

// candidatesFor lists the pods that are not on the target side, in update order (CS-107). A pod in
// its grace period is left alone until it ends, unless its update is over.
func candidatesFor(w *World, forward bool) []*Pod {
	var out []*Pod
	for i := range w.Pods {
		p := &w.Pods[i]
		switch {
		case w.updated(p) == forward:
		case p.State == wire.LifecyclePreparingDelete:
		case p.InPlace.InGrace && p.State != wire.LifecycleUpdated:
		default:
			out = append(out, p)
		}
	}
	return inUpdateOrder(w, out)
}

// withinBudget walks the candidates and takes those that keep the number of unavailable pods within
// the limit (CS-109). A pod that is already unavailable costs nothing, but even of those no more than
// the limit are ever unavailable at the target, so a broken image stops by itself.
func withinBudget(w *World, candidates []*Pod, target string, limit int) []*Pod {
	unavailable, atTarget := 0, 0
	for i := range w.Pods {
		p := &w.Pods[i]
		if p.Available {
			continue
		}
		unavailable++
		if sameRevision(p.Revision, target) {
			atTarget++
		}
	}
	var chosen []*Pod
	for _, p := range candidates {
		if atTarget+len(chosen) >= limit {
			break
		}
		if p.Available {
			if unavailable >= limit {
				break
			}
			unavailable++
		}
		chosen = append(chosen, p)
	}
	return chosen
}

// move plans how one pod gets to the target (CS-111 to CS-114), or nil if it has to wait.
func move(w *World, p *Pod, target string) *Step {
	if w.Policy == ReCreate {
		return recreate(w, p, "update policy is ReCreate")
	}
	if refusal, refused := w.Refusals[Route{revision.ShortHash(p.Revision), revision.ShortHash(target)}]; refused {
		if w.Policy == InPlaceOnly {
			return &Step{Action: Refuse, Pod: p.Name, Revision: target, Reason: refusal}
		}
		return recreate(w, p, refusal)
	}
	return moveInPlace(w, p, target)
}

// recreate marks the pod for deletion; while it waits for that its engine goes on.
func recreate(w *World, p *Pod, reason string) *Step {
	if p.Specified {
		return carryOn(w, p, true)
	}
	return &Step{Action: MarkForRecreate, Pod: p.Name, Reason: reason}
}

// moveInPlace takes the pod through its inPlaceUpdate hook (LC-7, LC-8, LC-12).
func moveInPlace(w *World, p *Pod, target string) *Step {
	prepare := &Step{Action: SetState, Pod: p.Name, State: wire.LifecyclePreparingUpdate,
		Reason: "it waits for its inPlaceUpdate hook"}
	if w.Hooks.MarkUpdateNotReady {
		prepare.NotReady = new(true)
	}
	switch p.State {
	case wire.LifecycleUpdated:
		if !w.Hooks.InPlaceUpdate {
			return carryOn(w, p, true)
		}
		prepare.PutHooksBack = true
		return prepare
	case wire.LifecyclePreparingUpdate:
		if p.HeldForUpdate {
			return nil
		}
	case wire.LifecycleUpdating:
	default:
		if p.HeldForUpdate {
			return prepare
		}
	}
	return &Step{Action: UpdateInPlace, Pod: p.Name, Revision: target, State: wire.LifecycleUpdating,
		Reason: "it is not at the wanted revision"}
}

// sameRevision compares revisions in their full or short form (RV-11).
func sameRevision(a, b string) bool { return revision.ShortHash(a) == revision.ShortHash(b) }
