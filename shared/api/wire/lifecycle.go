package wire

// LifecycleState is the value of label LabelLifecycleState on a pod. The empty state means that the
// pod is not managed by a lifecycle yet (spec section 13.2 of the in-place engine).
type LifecycleState string

// States of a pod's life.
const (
	LifecyclePreparingNormal LifecycleState = "PreparingNormal"
	LifecycleNormal          LifecycleState = "Normal"
	LifecyclePreparingUpdate LifecycleState = "PreparingUpdate"
	LifecycleUpdating        LifecycleState = "Updating"
	LifecycleUpdated         LifecycleState = "Updated"
	LifecyclePreparingDelete LifecycleState = "PreparingDelete"
)

const (
	// LabelLifecycleState holds a LifecycleState.
	LabelLifecycleState = "lifecycle.apps.kruise.io/state"
	// AnnotationLifecycleTimestamp holds the RFC 3339 time of the last change of the state.
	AnnotationLifecycleTimestamp = "lifecycle.apps.kruise.io/timestamp"
)
