// Package pod knows what happens to a pod at its creation: an ordered list of steps, each a function of
// the pod and of what the step is given to know.
package pod

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/flotilla-k8s/flotilla/shared/gates"
)

// World is what the steps know besides the pod.
type World struct {
	Gates gates.Set
}

// Step changes a pod in place. An error ends the request; no later step runs.
type Step struct {
	Name  string
	Apply func(*corev1.Pod, World) error
}

// Steps returns the steps of pod creation in the order of WH-56. A family that brings a step puts it at
// its place here.
func Steps() []Step {
	return []Step{
		{Name: "readiness gate", Apply: addReadinessGate},
	}
}

// Create runs the steps on a pod that is being created, in place.
func Create(pod *corev1.Pod, w World) error {
	for _, step := range Steps() {
		if err := step.Apply(pod, w); err != nil {
			return fmt.Errorf("running step %s: %w", step.Name, err)
		}
	}
	return nil
}
