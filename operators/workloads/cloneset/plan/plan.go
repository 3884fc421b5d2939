package plan

import (
	"time"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// Action is what a step does.
type Action string

// The actions. Each is one decision about one pod; act carries it out and decides nothing more.
const (
	// Create makes one pod at Step.Revision.
	Create Action = "Create"
	// Delete deletes the pod and its claims.
	Delete Action = "Delete"
	// SetState writes the lifecycle state Step.State.
	SetState Action = "SetState"
	// Refresh lets the engine carry out what the pod's in-place update needs next, and writes
	// Step.State, if any, together with it.
	Refresh Action = "Refresh"
	// UpdateInPlace starts the in-place update to Step.Revision.
	UpdateInPlace Action = "UpdateInPlace"
	// MarkForRecreate puts the specified-delete label on the pod, so that the scale phase replaces it
	// (PD-2).
	MarkForRecreate Action = "MarkForRecreate"
	// SetTemplateHash adds the label pod-template-hash to an old pod (CS-20).
	SetTemplateHash Action = "SetTemplateHash"
	// Refuse reports that the pod cannot be updated under the policy (CS-113).
	Refuse Action = "Refuse"
)

// Step is one action on one pod.
type Step struct {
	Action   Action
	Pod      string // empty for Create
	Revision string
	State    wire.LifecycleState
	// NotReady adds (true) the readiness key of the hook that State belongs to, or removes it from the
	// pod; nil leaves it alone (LC-19).
	NotReady *bool
	// PutHooksBack writes the inPlaceUpdate hook's labels and finalizers onto the pod (LC-12).
	PutHooksBack bool
	// Reason says why, for events and logs.
	Reason string
}

// Phase groups steps that may run side by side. A pass runs the phases in order and stops after the
// first that changed something: what follows would be decided on stale counts (CS-61).
type Phase struct {
	Name  string // "scale" or "update"
	Steps []Step
}

// Plan is what one pass does and when the next one is due without any event.
type Plan struct {
	Phases []Phase
	// ScaleUpLimit is the limit that holds back creations, nil if nothing is held back (CS-77).
	ScaleUpLimit *int
	// Waiting says in words what is waited for, by the set or by single pods.
	Waiting []string
	// Rolling tells that pods are still to be moved to another revision, by nobody but this controller.
	Rolling bool
	// NextLook is when to look again; 0 for never.
	NextLook time.Duration
}

// Compute decides one pass. A settled world gives a plan without steps.
func Compute(w *World) Plan {
	var p Plan
	if w.Deleting {
		return p
	}
	scale(w, &p)
	update(w, &p)
	p.awaitPods(w)
	for i := range w.Pods {
		p.look(w.Pods[i].InPlace.RequeueAfter)
		p.look(w.Pods[i].AvailableIn)
	}
	return p
}

// Steps counts the steps of all phases.
func (p *Plan) Steps() int {
	n := 0
	for _, phase := range p.Phases {
		n += len(phase.Steps)
	}
	return n
}

func (p *Plan) add(phase string, steps ...Step) {
	if len(steps) > 0 {
		p.Phases = append(p.Phases, Phase{Name: phase, Steps: steps})
	}
}

func (p *Plan) look(after time.Duration) {
	if after > 0 && (p.NextLook == 0 || after < p.NextLook) {
		p.NextLook = after
	}
}
