package inplace

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
)

// View is what a plan has to know of a pod's in-place update.
type View struct {
	// Due: Refresh has something to write now, or an error to report.
	Due bool
	// InGrace: an update waits for the end of its grace period.
	InGrace bool
	// Completed: no update is in flight (IP-71).
	Completed bool
	// Waiting says in words for users what an unfinished update waits for.
	Waiting string
	// RequeueAfter is when to look again without any event; 0 is never.
	RequeueAfter time.Duration
}

// Look says where the in-place update of a pod is, without writing anything. A pod with an annotation
// that cannot be read is Due, so that Refresh reports it, and never Completed (IP-72).
func (e *Engine) Look(pod *corev1.Pod, now time.Time) View {
	step, err := Next(pod, now, e.Gates)
	if err != nil {
		return View{Due: true, Waiting: err.Error()}
	}
	inGrace := hasGrace(pod)
	return View{
		Due:          step.Pod != nil,
		InGrace:      inGrace,
		Completed:    (step.Phase == Idle || step.Phase == PhaseCompleted) && !inGrace && pod.DeletionTimestamp == nil,
		Waiting:      step.Message,
		RequeueAfter: step.RequeueAfter,
	}
}

func hasGrace(pod *corev1.Pod) bool {
	grace, err := wire.GetInPlaceGrace(pod)
	return err == nil && grace != nil
}

// enter adds a lifecycle state to the step.
func (s *Step) enter(pod *corev1.Pod, state wire.LifecycleState, now time.Time) {
	if state == "" || podstate.Lifecycle(pod) == state {
		return
	}
	if s.Pod == nil {
		s.Pod = pod.DeepCopy()
	}
	podstate.SetLifecycle(s.Pod, state, now)
}
