package plan

import (
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// simulator applies plans to a world the way act does, and then lets the cluster move: pods that
// were created or updated become ready, users' hooks let go and come back.
type simulator struct {
	w    *World
	made int
	// broken revisions never become ready.
	broken map[string]bool
}

// apply carries out the first phase that has steps, as one pass does.
func (s *simulator) apply(p Plan) {
	for _, phase := range p.Phases {
		changed := false
		for _, step := range phase.Steps {
			changed = s.step(step) || changed
		}
		if changed {
			return
		}
	}
}

func (s *simulator) step(step Step) bool {
	if step.Action == Create {
		s.made++
		s.w.Pods = append(s.w.Pods, Pod{Name: fmt.Sprintf("new-%04d", s.made), Revision: step.Revision,
			State: wire.LifecyclePreparingNormal, InPlace: InPlace{Due: true, Completed: true}, Order: Order{Created: s.w.Now}})
		return true
	}
	i := slices.IndexFunc(s.w.Pods, func(p Pod) bool { return p.Name == step.Pod })
	p := &s.w.Pods[i]
	if step.State != "" {
		p.State = step.State
		p.Available = p.Ready && p.State == wire.LifecycleNormal
	}
	switch step.Action {
	case Delete:
		s.w.Pods = slices.Delete(s.w.Pods, i, i+1)
	case MarkForRecreate:
		p.Specified = true
	case UpdateInPlace:
		p.Revision = step.Revision
		p.Ready, p.Available, p.Order.ConditionReady = false, false, false
		p.InPlace = InPlace{Due: false, Completed: false}
	case Refresh:
		p.InPlace.Due = false
	case Refuse:
		return false
	case Create, SetState, SetTemplateHash:
	}
	if step.PutHooksBack {
		p.HeldForUpdate, p.UpdateHooked = true, true
	}
	return true
}

// settle lets the kubelets and the owners of hooks do their part.
func (s *simulator) settle() {
	for i := range s.w.Pods {
		p := &s.w.Pods[i]
		p.Order.Node, p.Order.Phase = "node-1", corev1.PodRunning
		p.NormalHooked = true
		if s.broken[p.Revision] {
			continue
		}
		if !p.InPlace.Completed {
			p.InPlace = InPlace{Completed: true, Due: true}
		}
		p.Ready = !p.InPlace.Due
		p.Order.ConditionReady = p.Ready
		p.Available = p.Ready && (p.State == "" || p.State == wire.LifecycleNormal)
		switch p.State {
		case wire.LifecyclePreparingUpdate:
			p.HeldForUpdate, p.UpdateHooked = false, false
		case wire.LifecycleUpdated:
			p.UpdateHooked = true
		case wire.LifecyclePreparingDelete:
			p.HeldForDelete = false
		case wire.LifecyclePreparingNormal, wire.LifecycleNormal, wire.LifecycleUpdating:
		}
	}
}

// run applies plans until nothing is left to do and nothing moves any more, and tells in how many
// passes; it gives up after passes.
func (s *simulator) run(passes int, check func()) (int, bool) {
	for i := range passes {
		p := Compute(s.w)
		s.apply(p)
		check()
		before := slices.Clone(s.w.Pods)
		s.settle()
		if p.Steps() == 0 && reflect.DeepEqual(before, s.w.Pods) {
			return i, true
		}
	}
	return passes, false
}
