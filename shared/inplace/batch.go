package inplace

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
)

// barrierKeyPrefix stands before the launch priority in the key of the barrier env (IP-3).
const barrierKeyPrefix = "p_"

// split divides what is pending into the next batch and the rest: the containers without a launch
// priority and those with the highest one come first, and with them every container that reads a
// label or annotation which changes now. Source: IP-52 to IP-54.
func split(pod *corev1.Pod, todo pending) (batch, rest pending) {
	chosen := firstContainers(pod, todo.containers())
	for joinSharers(chosen, todo) {
	}
	batch, rest = pending{}, pending{}
	for name, image := range todo.images {
		part := &rest
		if chosen.Has(name) {
			part = &batch
		}
		if part.images == nil {
			part.images = map[string]string{}
		}
		part.images[name] = image
	}
	for name, meta := range todo.refMetadata {
		part := &rest
		if chosen.Has(name) {
			part = &batch
		}
		if part.refMetadata == nil {
			part.refMetadata = map[string]metav1.ObjectMeta{}
		}
		part.refMetadata[name] = meta
	}
	return batch, rest
}

// firstContainers returns the candidates without priority and those with the highest one.
func firstContainers(pod *corev1.Pod, candidates []string) sets.Set[string] {
	chosen := sets.New[string]()
	var highest *int
	var withHighest []string
	for _, name := range candidates {
		priority := launchPriority(container(pod, name))
		switch {
		case priority == nil:
			chosen.Insert(name)
		case highest == nil || *priority > *highest:
			highest, withHighest = priority, []string{name}
		case *priority == *highest:
			withHighest = append(withHighest, name)
		}
	}
	return chosen.Insert(withHighest...)
}

// launchPriority reads the priority of a container from its barrier env: nil without one, 0 if the
// number cannot be read. An env of that name which reads no ConfigMap is none. Source: IP-51, P-14.
func launchPriority(c *corev1.Container) *int {
	if c == nil {
		return nil
	}
	for _, env := range c.Env {
		if env.Name != wire.EnvContainerBarrier || env.ValueFrom == nil || env.ValueFrom.ConfigMapKeyRef == nil {
			continue
		}
		digits := strings.TrimPrefix(env.ValueFrom.ConfigMapKeyRef.Key, barrierKeyPrefix)
		priority, err := strconv.Atoi(digits)
		if err != nil {
			priority = 0
		}
		return &priority
	}
	return nil
}

// joinSharers adds the candidates that share a changed key with a chosen container, and tells
// whether there were any.
func joinSharers(chosen sets.Set[string], todo pending) bool {
	labels, annotations := sets.New[string](), sets.New[string]()
	for name := range chosen {
		labels = labels.Union(sets.KeySet(todo.refMetadata[name].Labels))
		annotations = annotations.Union(sets.KeySet(todo.refMetadata[name].Annotations))
	}
	before := chosen.Len()
	for name, meta := range todo.refMetadata {
		if labels.HasAny(sets.KeySet(meta.Labels).UnsortedList()...) ||
			annotations.HasAny(sets.KeySet(meta.Annotations).UnsortedList()...) {
			chosen.Insert(name)
		}
	}
	return chosen.Len() > before
}

// applyBatch changes the pod, which must be the caller's own copy, by the next batch of what is
// pending, and records in the state what was done and what is left. Source: IP-55, IP-57, IP-58.
func applyBatch(pod *corev1.Pod, todo pending, state *wire.InPlaceState, now metav1.Time) error {
	batch, rest := split(pod, todo)
	for name, image := range batch.images {
		c := container(pod, name)
		if c == nil {
			return fmt.Errorf("setting image of container %s: %w", name, errNoContainer)
		}
		if c.Image != image {
			remember(pod, name, state)
			c.Image = image
		}
	}
	for _, meta := range batch.refMetadata {
		for key, value := range meta.Labels {
			metav1.SetMetaDataLabel(&pod.ObjectMeta, key, value)
		}
		for key, value := range meta.Annotations {
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, value)
		}
	}
	names := batch.containers()
	state.NextContainerImages = rest.images
	state.NextContainerRefMetadata = rest.refMetadata
	state.PreCheckBeforeNext = nil
	if !rest.empty() {
		state.PreCheckBeforeNext = &wire.InPlacePreCheck{ContainersRequiredReady: names}
	}
	state.ContainerBatchesRecord = append(state.ContainerBatchesRecord, wire.InPlaceBatch{Timestamp: now, Containers: names})
	return nil
}

// remember records what a container runs before its image is changed, which happens once per update
// (IP-55). A container that never had a status is not recorded.
func remember(pod *corev1.Pod, name string, state *wire.InPlaceState) {
	if status := podstate.ContainerStatus(pod, name); status != nil {
		keep(state, name, wire.InPlaceContainerStatus{ImageID: status.ImageID, ContainerID: status.ContainerID})
	}
}

func keep(state *wire.InPlaceState, name string, record wire.InPlaceContainerStatus) {
	if state.LastContainerStatuses == nil {
		state.LastContainerStatuses = map[string]wire.InPlaceContainerStatus{}
	}
	state.LastContainerStatuses[name] = record
}
