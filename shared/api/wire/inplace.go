package wire

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations of the in-place update engine. The Legacy keys were written before OpenKruise 0.7 and
// are read when the present key is absent.
const (
	AnnotationInPlaceState       = "apps.kruise.io/inplace-update-state"
	AnnotationInPlaceGrace       = "apps.kruise.io/inplace-update-grace"
	AnnotationLegacyInPlaceState = "inplace-update-state"
	AnnotationLegacyInPlaceGrace = "inplace-update-grace"
)

// InPlaceState records on the pod how far its in-place update is. It is never removed; the next
// in-place update overwrites it (IP-5). Users read the batches and the next* fields (IP-4).
type InPlaceState struct {
	// Revision is the target: the full ControllerRevision name, or the short hash for DaemonSet.
	Revision string `json:"revision"`
	// UpdateTimestamp is when this update started; later batches do not move it.
	UpdateTimestamp metav1.Time `json:"updateTimestamp"`
	// LastContainerStatuses holds the image ID that each changed container reported at the moment its
	// image was changed. It is null until an image was changed.
	LastContainerStatuses map[string]InPlaceContainerStatus `json:"lastContainerStatuses"`
	// UpdateEnvFromMetadata says that a label or annotation read by a container's env changes.
	UpdateEnvFromMetadata bool `json:"updateEnvFromMetadata,omitempty"`
	// UpdateResources says that container resources change.
	UpdateResources bool `json:"updateResources,omitempty"`
	// UpdateImages says that container images change.
	UpdateImages bool `json:"updateImages,omitempty"`
	// NextContainerImages are the images that later batches still have to set.
	NextContainerImages map[string]string `json:"nextContainerImages,omitempty"`
	// NextContainerRefMetadata is the metadata, read by env, that later batches still have to set.
	NextContainerRefMetadata map[string]metav1.ObjectMeta `json:"nextContainerRefMetadata,omitempty"`
	// NextContainerResources are the resources that later batches still have to set.
	NextContainerResources map[string]corev1.ResourceRequirements `json:"nextContainerResources,omitempty"`
	// PreCheckBeforeNext is what must hold before the next batch starts.
	PreCheckBeforeNext *InPlacePreCheck `json:"preCheckBeforeNext,omitempty"`
	// ContainerBatchesRecord has one entry per batch applied by this update.
	ContainerBatchesRecord []InPlaceBatch `json:"containerBatchesRecord,omitempty"`
}

// InPlaceContainerStatus is what the engine remembers of a container before it changes it.
type InPlaceContainerStatus struct {
	ImageID string `json:"imageID,omitempty"`
	// ContainerID tells a restarted container from one that still runs where the image ID cannot,
	// which is when both images have the same digest (P-6). The reference writes and reads no such
	// field.
	ContainerID string `json:"containerID,omitempty"`
}

// InPlacePreCheck names the containers that must be ready before the next batch.
type InPlacePreCheck struct {
	ContainersRequiredReady []string `json:"containersRequiredReady,omitempty"`
}

// InPlaceBatch records one applied batch; Containers is sorted and empty for a batch that touched
// metadata only.
type InPlaceBatch struct {
	Timestamp  metav1.Time `json:"timestamp"`
	Containers []string    `json:"containers"`
}

// InPlaceGrace holds a whole update that waits for the end of its grace period.
type InPlaceGrace struct {
	Revision             string                                 `json:"revision"`
	ContainerImages      map[string]string                      `json:"containerImages,omitempty"`
	ContainerRefMetadata map[string]metav1.ObjectMeta           `json:"containerRefMetadata,omitempty"`
	ContainerResources   map[string]corev1.ResourceRequirements `json:"containerResources,omitempty"`
	// MetaDataPatch is a strategic merge patch of the pod; JSON carries it in base64.
	MetaDataPatch         []byte `json:"metaDataPatch,omitempty"`
	UpdateEnvFromMetadata bool   `json:"updateEnvFromMetadata,omitempty"`
	GraceSeconds          int32  `json:"graceSeconds,omitempty"`
}

// GetInPlaceState reads the state annotation of an object, or the legacy one. It returns nil
// without an error when there is none.
func GetInPlaceState(obj metav1.Object) (*InPlaceState, error) {
	return decodeEither[InPlaceState](obj, AnnotationInPlaceState, AnnotationLegacyInPlaceState)
}

// GetInPlaceGrace reads the grace annotation of an object, or the legacy one. It returns nil without
// an error when there is none.
func GetInPlaceGrace(obj metav1.Object) (*InPlaceGrace, error) {
	return decodeEither[InPlaceGrace](obj, AnnotationInPlaceGrace, AnnotationLegacyInPlaceGrace)
}

// Format encodes the state as it stands in the annotation.
func (s *InPlaceState) Format() (string, error) { return format("in-place state", s) }

// Format encodes the record as it stands in the annotation.
func (g *InPlaceGrace) Format() (string, error) { return format("in-place grace", g) }

func decodeEither[T any](obj metav1.Object, keys ...string) (*T, error) {
	for _, key := range keys {
		text, found := obj.GetAnnotations()[key]
		if !found || text == "" {
			continue
		}
		out := new(T)
		if err := json.Unmarshal([]byte(text), out); err != nil {
			return nil, fmt.Errorf("decoding annotation %s: %w", key, err)
		}
		return out, nil
	}
	return nil, nil
}

func format(what string, v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encoding %s: %w", what, err)
	}
	return string(raw), nil
}
