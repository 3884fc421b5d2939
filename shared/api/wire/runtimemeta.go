package wire

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AnnotationRuntimeContainersMeta is written by the node daemon: what the container runtime says of
// the pod's containers (IP-80).
const AnnotationRuntimeContainersMeta = "apps.kruise.io/runtime-containers-meta"

// RuntimeContainersMeta is the value of AnnotationRuntimeContainersMeta, in the order of the pod's
// container statuses.
type RuntimeContainersMeta struct {
	Containers []RuntimeContainerMeta `json:"containers"`
}

// RuntimeContainerMeta describes one container as the runtime runs it.
type RuntimeContainerMeta struct {
	Name string `json:"name"`
	// ContainerID has the form <runtime>://<id>, as in the pod's status.
	ContainerID  string                 `json:"containerID"`
	RestartCount int32                  `json:"restartCount"`
	Hashes       RuntimeContainerHashes `json:"hashes"`
}

// RuntimeContainerHashes tells from which spec a container was started.
type RuntimeContainerHashes struct {
	// PlainHash is the hash that the kubelet stored with the container (IP-84).
	PlainHash uint64 `json:"plainHash"`
	// ExtractedEnvFromMetadataHash is the hash of the env values read from the pod's metadata (IP-85);
	// 0 when unknown.
	ExtractedEnvFromMetadataHash uint64 `json:"extractedEnvFromMetadataHash,omitempty"`
}

// GetRuntimeContainersMeta reads the annotation of a pod. It returns nil without an error when there
// is none.
func GetRuntimeContainersMeta(obj metav1.Object) (*RuntimeContainersMeta, error) {
	return decodeEither[RuntimeContainersMeta](obj, AnnotationRuntimeContainersMeta)
}

// Format encodes the metadata as it stands in the annotation.
func (m *RuntimeContainersMeta) Format() (string, error) {
	return format("runtime containers meta", m)
}

// Container returns the entry of a container by name, or nil.
func (m *RuntimeContainersMeta) Container(name string) *RuntimeContainerMeta {
	if m == nil {
		return nil
	}
	for i := range m.Containers {
		if m.Containers[i].Name == name {
			return &m.Containers[i]
		}
	}
	return nil
}
