package inplace

import (
	"encoding/json"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// carryOver returns the change together with what an unfinished update of the pod has not applied
// yet, and moves into the state what that update still waits for. The new change wins where both
// speak of the same container or key. Source: P-2.
func carryOver(pod *corev1.Pod, change *Change, state *wire.InPlaceState) *Change {
	last, err := wire.GetInPlaceState(pod)
	if err != nil || last == nil {
		return change
	}
	todo := pendingOfState(last)
	waitingFor, err := containersDone(pod, last, Gates{VerticalScaling: true})
	if err == nil && waitingFor == "" && todo.empty() {
		return change
	}
	for name, record := range last.LastContainerStatuses {
		if waitsForImage(pod, name, record) != "" {
			keep(state, name, record)
		}
	}
	state.UpdateEnvFromMetadata = last.UpdateEnvFromMetadata
	state.UpdateImages = last.UpdateImages
	state.UpdateResources = last.UpdateResources

	merged := *change
	if len(todo.images) > 0 {
		merged.Images = maps.Clone(todo.images)
		maps.Copy(merged.Images, change.Images)
	}
	merged.RefMetadata = carryMetadata(todo.refMetadata, change)
	return &merged
}

// carryMetadata merges metadata that an earlier update still owes to containers with that of a new
// change. A key that the new change sets or removes is not owed any more.
func carryMetadata(owed map[string]metav1.ObjectMeta, change *Change) map[string]metav1.ObjectMeta {
	if len(owed) == 0 {
		return change.RefMetadata
	}
	labels, annotations := changedKeys(change)
	merged := map[string]metav1.ObjectMeta{}
	for name, meta := range owed {
		left := metav1.ObjectMeta{Labels: without(meta.Labels, labels), Annotations: without(meta.Annotations, annotations)}
		if len(left.Labels)+len(left.Annotations) > 0 {
			merged[name] = left
		}
	}
	for name, meta := range change.RefMetadata {
		both := merged[name]
		both.Labels = union(both.Labels, meta.Labels)
		both.Annotations = union(both.Annotations, meta.Annotations)
		merged[name] = both
	}
	return merged
}

// changedKeys returns the label and annotation keys that a change speaks of.
func changedKeys(change *Change) (labels, annotations map[string]bool) {
	labels, annotations = map[string]bool{}, map[string]bool{}
	for _, meta := range change.RefMetadata {
		for key := range meta.Labels {
			labels[key] = true
		}
		for key := range meta.Annotations {
			annotations[key] = true
		}
	}
	var patch struct {
		Metadata struct {
			Labels      map[string]*string `json:"labels"`
			Annotations map[string]*string `json:"annotations"`
		} `json:"metadata"`
	}
	// A patch that does not decode, or no patch, names no key; applying it reports what is wrong.
	if err := json.Unmarshal(change.MetadataPatch, &patch); err != nil {
		return labels, annotations
	}
	for key := range patch.Metadata.Labels {
		labels[key] = true
	}
	for key := range patch.Metadata.Annotations {
		annotations[key] = true
	}
	return labels, annotations
}

func without(values map[string]string, keys map[string]bool) map[string]string {
	left := maps.Clone(values)
	maps.DeleteFunc(left, func(key, _ string) bool { return keys[key] })
	return left
}

func union(a, b map[string]string) map[string]string {
	if len(a)+len(b) == 0 {
		return nil
	}
	both := map[string]string{}
	maps.Copy(both, a)
	maps.Copy(both, b)
	return both
}
