package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// Outlook is the state of the set in the terms of kstatus, with words for users.
type Outlook struct {
	// Ready: all wanted pods are there and available.
	Ready bool
	// Reconciling: this controller or a pod still has something to do.
	Reconciling bool
	// Stalled: nothing goes on until the user changes something.
	Stalled bool
	// Message says what is waited for or why it stalls.
	Message string
}

// Outlook sums a plan up. A roll-out that is paused, or left to the user by OnDelete, counts as settled.
func (p *Plan) Outlook(w *World) Outlook {
	available := 0
	for i := range w.Pods {
		if w.Pods[i].Available {
			available++
		}
	}
	o := Outlook{Ready: available == len(w.Pods) && available == w.Limits.Replicas}
	o.Reconciling = !o.Ready || p.Rolling || p.Steps() > 0
	if refusal := p.refusal(); refusal != "" {
		return Outlook{Ready: o.Ready, Stalled: true, Message: refusal}
	}
	o.Message = strings.Join(p.Waiting, "; ")
	if o.Message == "" {
		o.Message = fmt.Sprintf("%d of %d pods are available", available, w.Limits.Replicas)
	}
	return o
}

// refusal is why pods cannot be updated under the policy; empty if they can.
func (p *Plan) refusal() string {
	for _, phase := range p.Phases {
		for _, step := range phase.Steps {
			if step.Action == Refuse {
				return "podUpdatePolicy InPlaceOnly does not allow this change: " + step.Reason
			}
		}
	}
	return ""
}

// await notes what is waited for.
func (p *Plan) await(what string) {
	if what != "" {
		p.Waiting = append(p.Waiting, what)
	}
}

// awaitPods notes what single pods wait for: each cause once, with the first pod by name and the number
// of others.
func (p *Plan) awaitPods(w *World) {
	first, more := map[string]string{}, map[string]int{}
	var causes []string
	for i := range w.Pods {
		pod := &w.Pods[i]
		cause := waitsFor(pod)
		switch name, known := first[cause]; {
		case cause == "":
		case !known:
			first[cause] = pod.Name
			causes = append(causes, cause)
		default:
			first[cause] = min(name, pod.Name)
			more[cause]++
		}
	}
	slices.SortFunc(causes, func(a, b string) int { return cmp.Compare(first[a], first[b]) })
	for _, cause := range causes {
		text := fmt.Sprintf("pod %s waits for %s", first[cause], cause)
		if n := more[cause]; n > 0 {
			text += fmt.Sprintf(" (and %d more)", n)
		}
		p.await(text)
	}
}

func waitsFor(p *Pod) string {
	switch {
	case p.State == wire.LifecyclePreparingDelete && p.HeldForDelete:
		return "its preDelete hook"
	case p.State == wire.LifecyclePreparingUpdate && p.HeldForUpdate:
		return "its inPlaceUpdate hook to let go"
	case p.State == wire.LifecycleUpdated && !p.UpdateHooked:
		return "its inPlaceUpdate hook to come back"
	case p.State == wire.LifecyclePreparingNormal && p.Order.Node == "":
		return "a node"
	case p.State == wire.LifecyclePreparingNormal && !p.NormalHooked:
		return "its preNormal hook"
	default:
		return p.InPlace.Waiting
	}
}
