package v1beta1

// Lifecycle holds the points at which a workload waits for somebody else before it goes on with a
// pod. An absent hook never waits. Hooks concern only what the workload controller does: deleting a
// pod by hand, evicting it, or deleting the workload passes by them (LC-21).
type Lifecycle struct {
	// PreDelete holds back the deletion of a pod, in scale-in and in updates by recreation, as long
	// as the pod carries any finalizer or any label of the hook.
	// +optional
	PreDelete *LifecycleHook `json:"preDelete,omitempty"`
	// InPlaceUpdate holds back the in-place update of a pod as long as the pod carries any finalizer
	// or any label of the hook. After the update the pod is not available until it carries all of
	// them again.
	// +optional
	InPlaceUpdate *LifecycleHook `json:"inPlaceUpdate,omitempty"`
	// PreNormal keeps a new pod from counting as available until it carries all finalizers and all
	// labels of the hook.
	// +optional
	PreNormal *LifecycleHook `json:"preNormal,omitempty"`
}

// LifecycleHook says by which labels and finalizers of a pod a hook is held.
type LifecycleHook struct {
	// LabelsHandler are labels, key and value, that hold the hook. A pod without the key is not held,
	// whatever value is asked for.
	// +optional
	LabelsHandler map[string]string `json:"labelsHandler,omitempty"`
	// FinalizersHandler are finalizers that hold the hook.
	// +optional
	FinalizersHandler []string `json:"finalizersHandler,omitempty"`
	// MarkPodNotReady makes a pod not ready while it waits at this hook, so that it gets no new
	// traffic. Default false. It has an effect on preDelete and inPlaceUpdate only, and only on a
	// pod that the hook really holds.
	// +optional
	MarkPodNotReady bool `json:"markPodNotReady,omitempty"`
}
