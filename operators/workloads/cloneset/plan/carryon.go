package plan

import "github.com/flotilla-k8s/flotilla/shared/api/wire"

// carryOn plans what a pod that is not being moved needs: the next step of an update in flight, the
// condition back to True, the next lifecycle state (CS-104, LC-5 to LC-11). One step does it all, so
// that an update costs one write at its end. Nil means that nothing is due. wanted tells whether the
// pod is still to be moved to another revision.
func carryOn(w *World, p *Pod, wanted bool) *Step {
	if p.State == wire.LifecyclePreparingNormal && p.Order.Node == "" {
		// Nothing can be ready before it is scheduled; then one write does all (LC-6).
		return nil
	}
	next := nextState(w, p, wanted)
	s := &Step{Action: SetState, Pod: p.Name}
	if next != p.State {
		s.State, s.Reason = next, "its lifecycle goes on to "+string(next)
		if next == wire.LifecycleNormal || next == wire.LifecycleUpdated {
			s.NotReady = new(false) // LC-19, LC-20
		}
	}
	switch {
	case p.InPlace.Due:
		s.Action, s.Reason = Refresh, "its in-place update goes on"
	case next != p.State:
	case p.LacksTemplateHash:
		s.Action, s.Revision, s.Reason = SetTemplateHash, p.Revision, "it has no pod-template-hash"
	default:
		return nil
	}
	return s
}

// nextState is the lifecycle of a pod that is not moved in this pass.
func nextState(w *World, p *Pod, wanted bool) wire.LifecycleState {
	switch p.State {
	case wire.LifecyclePreparingNormal:
		if p.NormalHooked {
			return wire.LifecycleNormal
		}
	case wire.LifecyclePreparingUpdate:
		// Its template went back or the partition was raised (LC-9, LC-22). A pod that only waits for
		// budget, or for the end of a pause, is still wanted and stays.
		if !wanted {
			return afterUpdate(w, p)
		}
	case wire.LifecycleUpdating:
		if p.InPlace.Completed {
			return afterUpdate(w, p)
		}
	case wire.LifecycleUpdated:
		return afterUpdate(w, p)
	case wire.LifecycleNormal, wire.LifecyclePreparingDelete:
	}
	return p.State
}

// afterUpdate is where a finished update leads: to Updated while the inPlaceUpdate hook is not whole
// on the pod, else to Normal (LC-10, LC-11).
func afterUpdate(w *World, p *Pod) wire.LifecycleState {
	if w.Hooks.InPlaceUpdate && !p.UpdateHooked {
		return wire.LifecycleUpdated
	}
	return wire.LifecycleNormal
}
