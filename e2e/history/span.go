package history

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// Span is a part of a history.
type Span struct {
	start   map[string]*corev1.Pod
	Changes []Change
}

// MostUnavailable returns how many of a number of wanted pods were not ready at the worst moment of the span.
func (s Span) MostUnavailable(replicas int) int {
	pods, most := maps.Clone(s.start), 0
	for _, c := range s.Changes {
		apply(pods, c)
		ready := 0
		for _, p := range pods {
			if Ready(p) {
				ready++
			}
		}
		most = max(most, replicas-ready)
	}
	return most
}

// Replaced returns an error if a pod was made, deleted, or moved during the span.
func (s Span) Replaced() error {
	var errs []error
	for _, c := range s.Changes {
		switch {
		case c.Before == nil:
			errs = append(errs, fmt.Errorf("pod %s was made", c.Now.Name))
		case c.Now == nil:
			errs = append(errs, fmt.Errorf("pod %s was deleted", c.Before.Name))
		case c.Before.UID != c.Now.UID || c.Before.Spec.NodeName != c.Now.Spec.NodeName || c.Before.Status.PodIP != c.Now.Status.PodIP:
			errs = append(errs, fmt.Errorf("pod %s is another one now", c.Now.Name))
		}
	}
	return errors.Join(errs...)
}

// SwappedUndrained returns an error for each pod whose image was changed while it was in service: ready, or with
// InPlaceUpdateReady not False.
func (s Span) SwappedUndrained() error {
	var errs []error
	for _, c := range s.Changes {
		if !c.swaps() {
			continue
		}
		if Ready(c.Before) || conditionStatus(c.Before, wire.InPlaceUpdateReady) != corev1.ConditionFalse {
			errs = append(errs, fmt.Errorf("the image of pod %s was changed while it was in service", c.Now.Name))
		}
	}
	return errors.Join(errs...)
}

// RevisionOrder returns the pods in the order in which their revision label changed.
func (s Span) RevisionOrder() []string {
	var order []string
	for _, c := range s.Changes {
		if c.Before != nil && c.Now != nil && c.Before.Labels[wire.LabelRevision] != c.Now.Labels[wire.LabelRevision] {
			order = append(order, c.Now.Name)
		}
	}
	return order
}

// Restarted returns the pods of which a container ID changed, each once.
func (s Span) Restarted() []string {
	var names []string
	for _, c := range s.Changes {
		if c.Before == nil || c.Now == nil || slices.Contains(names, c.Now.Name) {
			continue
		}
		if first := ContainerID(c.Before); first != "" && ContainerID(c.Now) != first {
			names = append(names, c.Now.Name)
		}
	}
	return names
}

// Conditions returns the statuses that a condition of a pod went through, without repetitions.
func (s Span) Conditions(pod string, kind corev1.PodConditionType) []corev1.ConditionStatus {
	var statuses []corev1.ConditionStatus
	for _, c := range s.Changes {
		if c.Now != nil && c.Now.Name == pod {
			statuses = append(statuses, conditionStatus(c.Now, kind))
		}
	}
	return slices.Compact(statuses)
}

// DrainTime returns how long a pod was out of service before its image was changed, and false if that did not
// happen.
func (s Span) DrainTime(pod string) (time.Duration, bool) {
	var out time.Time
	for _, c := range s.Changes {
		switch {
		case c.Before == nil || c.Now == nil || c.Now.Name != pod:
		case Ready(c.Before) && !Ready(c.Now):
			out = c.At
		case c.swaps():
			return c.At.Sub(out), !out.IsZero()
		}
	}
	return 0, false
}

// swaps tells whether the change is one of the images that the pod should run.
func (c Change) swaps() bool {
	return c.Before != nil && c.Now != nil && c.Before.UID == c.Now.UID && !slices.EqualFunc(c.Before.Spec.Containers, c.Now.Spec.Containers,
		func(a, b corev1.Container) bool { return a.Image == b.Image })
}
