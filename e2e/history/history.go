// Package history keeps what happened to pods, change by change, and checks afterwards that nothing was wrong at
// any moment of it. A look at the pods now and then would miss what lasts for a fraction of a second.
package history

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Change is one change of one pod, as the API server told it.
type Change struct {
	At time.Time
	// Before is nil for a pod that is new, Now is nil for one that is gone. Both are shared and not to be
	// changed.
	Before, Now *corev1.Pod
}

// Pods records the changes of some pods. The zero value is ready, and all methods may be called at once.
type Pods struct {
	mu      sync.Mutex
	present map[string]*corev1.Pod
	changes []Change
}

// See records a pod as it is now.
func (h *Pods) See(pod *corev1.Pod, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.present[pod.Name]
	if before != nil && before.ResourceVersion == pod.ResourceVersion {
		return // told again, after a new start of the watch
	}
	if h.present == nil {
		h.present = map[string]*corev1.Pod{}
	}
	h.present[pod.Name] = pod
	h.changes = append(h.changes, Change{At: at, Before: before, Now: pod})
}

// Gone records that a pod is gone.
func (h *Pods) Gone(name string, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if before := h.present[name]; before != nil {
		delete(h.present, name)
		h.changes = append(h.changes, Change{At: at, Before: before})
	}
}

// Mark returns a place in the history: that of the present moment.
func (h *Pods) Mark() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.changes)
}

// Since returns the changes from a mark on, and the pods as they were at the mark.
func (h *Pods) Since(mark int) Span {
	h.mu.Lock()
	defer h.mu.Unlock()
	start := map[string]*corev1.Pod{}
	for _, c := range h.changes[:mark] {
		apply(start, c)
	}
	return Span{start: start, Changes: slices.Clone(h.changes[mark:])}
}

// apply brings pods up to date with a change.
func apply(pods map[string]*corev1.Pod, c Change) {
	if c.Now == nil {
		delete(pods, c.Before.Name)
		return
	}
	pods[c.Now.Name] = c.Now
}

// Saw tells whether the history has come to this version of a pod, or a later one.
func (h *Pods) Saw(pod *corev1.Pod) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.changes, func(c Change) bool {
		return c.Now != nil && c.Now.UID == pod.UID && c.Now.ResourceVersion == pod.ResourceVersion
	})
}
