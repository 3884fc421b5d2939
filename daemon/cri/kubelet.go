package cri

import (
	"strconv"

	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	kubelettypes "k8s.io/kubelet/pkg/types"
)

// Annotations by which the kubelet marks a container in the runtime.
const (
	annotationHash         = "io.kubernetes.container.hash"
	annotationRestartCount = "io.kubernetes.container.restartCount"
)

// fromCRI reads a listed container and the kubelet's marks on it. A mark that is absent or that no
// kubelet wrote reads as 0, which means unknown (M-4, M-5).
func fromCRI(c *runtimev1.Container) Container {
	hash, err := strconv.ParseUint(c.GetAnnotations()[annotationHash], 16, 64)
	if err != nil {
		hash = 0
	}
	restarts, err := strconv.ParseInt(c.GetAnnotations()[annotationRestartCount], 10, 32)
	if err != nil {
		restarts = 0
	}
	return Container{
		ID:           c.GetId(),
		Name:         kubelettypes.GetContainerName(c.GetLabels()),
		CreatedAt:    c.GetCreatedAt(),
		Running:      c.GetState() == runtimev1.ContainerState_CONTAINER_RUNNING,
		PlainHash:    hash,
		RestartCount: int32(restarts),
	}
}
