package inplace

import (
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
	"github.com/flotilla-k8s/flotilla/shared/readiness"
	"github.com/flotilla-k8s/flotilla/shared/revision"
)

var errNoState = errors.New("annotation " + wire.AnnotationInPlaceGrace + " without " + wire.AnnotationInPlaceState)

// Phase is where a pod is in its in-place update.
type Phase string

// Phases of a pod.
const (
	// Idle: the pod was never updated in place, or is being deleted.
	Idle Phase = "Idle"
	// Draining: the pod has to be not ready before its next batch, and is made so.
	Draining Phase = "Draining"
	// InGrace: the pod is not ready and waits for the end of its grace period.
	InGrace Phase = "InGrace"
	// Swapping: a batch is being written; its containers have not been looked at since.
	Swapping Phase = "Swapping"
	// WaitingForContainers: a batch was written and its containers do not run it yet, or are not ready
	// for the next batch.
	WaitingForContainers Phase = "WaitingForContainers"
	// PhaseCompleted: all containers run what the pod asks for.
	PhaseCompleted Phase = "Completed"
)

// Settled tells whether no update is in flight in this phase.
func (p Phase) Settled() bool { return p == Idle || p == PhaseCompleted }

// Step is what to do next for a pod.
type Step struct {
	// Phase is the phase of the pod once the step is done.
	Phase Phase
	// Message says in words for users what is being waited for; empty if nothing is.
	Message string
	// RequeueAfter is when to look again, if nothing happens before; 0 leaves it to events.
	RequeueAfter time.Duration
	// Pod is the pod as it has to be, or nil if nothing has to be written.
	Pod *corev1.Pod
	// Status says that the difference to Pod goes to pods/status, which takes metadata too, instead of
	// pods.
	Status bool
}

// Next says what to do for a pod at the time now, given nothing but the pod: end a grace period,
// apply the next batch, or let the pod be ready again. It decides on the very version of the pod
// that was given, and its step must be written on that version or not at all. An annotation that
// cannot be read is an error. Source: IP-64 to IP-70.
func Next(pod *corev1.Pod, now time.Time, gates Gates) (Step, error) {
	if pod.DeletionTimestamp != nil {
		return Step{Phase: Idle, Message: "the pod is being deleted"}, nil
	}
	grace, err := wire.GetInPlaceGrace(pod)
	if err != nil {
		return Step{}, err
	}
	state, err := wire.GetInPlaceState(pod)
	switch {
	case err != nil:
		return Step{}, err
	case grace != nil:
		return nextInGrace(pod, grace, state, now)
	case state == nil:
		return finish(pod, Idle, now), nil
	}
	waitingFor, err := containersDone(pod, state, gates)
	switch {
	case err != nil:
		return Step{}, err
	case waitingFor != "":
		return Step{Phase: WaitingForContainers, Message: waitingFor}, nil
	case len(remaining(state)) > 0:
		return nextBatch(pod, state, now)
	}
	return finish(pod, PhaseCompleted, now), nil
}

// nextInGrace ends the grace period when it is over. A pod that got another revision label meanwhile
// loses the record, so that the ordinary flow starts again. Source: IP-64, IP-65.
func nextInGrace(pod *corev1.Pod, grace *wire.InPlaceGrace, state *wire.InPlaceState, now time.Time) (Step, error) {
	if state == nil {
		return Step{}, errNoState
	}
	if !revision.Matches(pod.Labels, grace.Revision) {
		out := pod.DeepCopy()
		delete(out.Annotations, wire.AnnotationInPlaceGrace)
		delete(out.Annotations, wire.AnnotationLegacyInPlaceGrace)
		return Step{Phase: Idle, Message: "the grace period was ended by another revision", Pod: out}, nil
	}
	if !drained(pod) {
		return drain(pod, now), nil
	}
	if left := graceLeft(pod, grace, state, now); left > 0 {
		return Step{Phase: InGrace, Message: "the end of the grace period", RequeueAfter: left}, nil
	}
	if len(grace.ContainerResources) > 0 {
		return Step{}, fmt.Errorf("ending the grace period: %w", errResources)
	}
	out := pod.DeepCopy()
	todo := pending{images: grace.ContainerImages, refMetadata: grace.ContainerRefMetadata}
	if err := applyFirst(out, grace.MetaDataPatch, todo, state, now); err != nil {
		return Step{}, err
	}
	return Step{Phase: Swapping, Message: swapMessage(state), Pod: out}, nil
}

// graceLeft returns the rest of a grace period in whole seconds, rounded up. It counts from the
// start of the update, or from when the pod became not ready if that was later, which it is when
// somebody made it ready again for a moment. That moment was up to a second after its time on the wire.
func graceLeft(pod *corev1.Pod, grace *wire.InPlaceGrace, state *wire.InPlaceState, now time.Time) time.Duration {
	start := state.UpdateTimestamp.Time
	for _, kind := range []corev1.PodConditionType{wire.InPlaceUpdateReady, corev1.PodReady} {
		condition := podstate.Condition(pod, kind)
		if condition != nil && condition.LastTransitionTime.After(state.UpdateTimestamp.Time) {
			start = later(start, condition.LastTransitionTime.Add(time.Second))
		}
	}
	left := start.Add(time.Duration(grace.GraceSeconds) * time.Second).Sub(now)
	return max(0, (left + time.Second - 1).Truncate(time.Second))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// nextBatch applies the next batch once the containers of the last one are ready. Source: IP-59.
func nextBatch(pod *corev1.Pod, state *wire.InPlaceState, now time.Time) (Step, error) {
	if len(state.NextContainerResources) > 0 {
		return Step{}, fmt.Errorf("starting the next batch: %w", errResources)
	}
	if state.PreCheckBeforeNext != nil {
		for _, name := range state.PreCheckBeforeNext.ContainersRequiredReady {
			status := podstate.ContainerStatus(pod, name)
			if status == nil || !status.Ready {
				return Step{Phase: WaitingForContainers, Message: fmt.Sprintf("container %s to be ready before the next batch", name)}, nil
			}
		}
	}
	if !drained(pod) {
		return drain(pod, now), nil
	}
	out := pod.DeepCopy()
	if err := applyBatch(out, pendingOfState(state), state, metav1.NewTime(now)); err != nil {
		return Step{}, err
	}
	if err := setState(out, state); err != nil {
		return Step{}, err
	}
	return Step{Phase: Swapping, Message: swapMessage(state), Pod: out}, nil
}

// drain makes a pod not ready that has to be before its next batch and is not, because somebody else
// turned the condition, or Ready. The batch follows at the next look.
func drain(pod *corev1.Pod, now time.Time) Step {
	step := Step{Phase: Draining, Message: "the pod to be not ready"}
	out := pod.DeepCopy()
	if readiness.BeginInPlace(out, now) {
		step.Pod, step.Status = out, true
	}
	return step
}

// finish lets a pod be ready as far as the engine can say: InPlaceUpdateReady turns True, and a pod
// that nobody has given the condition of its gate KruisePodReady yet gets it in the same write.
// Source: IP-68, IP-69, IP-91.
func finish(pod *corev1.Pod, phase Phase, now time.Time) Step {
	held := podstate.HasGate(pod, wire.InPlaceUpdateReady) && !isPlainTrue(podstate.Condition(pod, wire.InPlaceUpdateReady))
	unset := podstate.HasGate(pod, wire.KruisePodReady) && podstate.Condition(pod, wire.KruisePodReady) == nil
	if !held && !unset {
		return Step{Phase: phase}
	}
	out := pod.DeepCopy()
	if held {
		readiness.EndInPlace(out, now)
	}
	readiness.Initialize(out, now)
	return Step{Phase: phase, Pod: out, Status: true}
}

// isPlainTrue tells whether a condition is True and says no more.
func isPlainTrue(c *corev1.PodCondition) bool {
	return podstate.IsTrue(c) && c.Reason == "" && c.Message == ""
}

// swapMessage says which containers the last batch of a state changes.
func swapMessage(state *wire.InPlaceState) string {
	names := state.ContainerBatchesRecord[len(state.ContainerBatchesRecord)-1].Containers
	if len(names) == 0 {
		return ""
	}
	return "container " + strings.Join(names, ", ") + " to be updated"
}
