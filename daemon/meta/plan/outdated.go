package plan

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/containerhash"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
)

// Outdated lists the containers that have to be stopped so that the kubelet starts them with the env
// values that the metadata of their pod has now. The result points into the pod.
//
// There are none outside of an in-place update, so a label changed by hand restarts nothing (IP-25), and
// none of which the hash is not known yet. A container whose image has been changed as well is left to
// the kubelet, which is about to replace it by itself; stopping it, too, would restart it twice (P-16).
// Source: IP-86, M-25.
func Outdated(pod *corev1.Pod) ([]*corev1.ContainerStatus, error) {
	if pod.DeletionTimestamp != nil || !Concerns(pod) || !UpdatingInPlace(pod) {
		return nil, nil
	}
	reported, err := wire.GetRuntimeContainersMeta(pod)
	if err != nil {
		return nil, nil //nolint:nilerr // it is about to be replaced by one that can be decoded
	}
	var outdated []*corev1.ContainerStatus
	for i := range pod.Spec.Containers {
		container := &pod.Spec.Containers[i]
		status := podstate.ContainerStatus(pod, container.Name)
		entry := reported.Container(container.Name)
		if status == nil || entry == nil || status.ContainerID != entry.ContainerID {
			continue
		}
		old, err := startedWithOtherEnv(pod, container, entry.Hashes)
		if err != nil {
			return nil, fmt.Errorf("comparing env of container %s: %w", container.Name, err)
		}
		if old {
			outdated = append(outdated, status)
		}
	}
	return outdated, nil
}

func startedWithOtherEnv(pod *corev1.Pod, container *corev1.Container, hashes wire.RuntimeContainerHashes) (bool, error) {
	if hashes.ExtractedEnvFromMetadataHash == 0 {
		return false, nil
	}
	expected, err := containerhash.EnvFromMetadata(container, pod)
	if err != nil || hashes.ExtractedEnvFromMetadataHash == expected {
		return false, err
	}
	plain, err := containerhash.Plain(container)
	if err != nil {
		return false, err
	}
	// Kubelets since 1.31 hash name and image alone, which is the first of the values.
	return hashes.PlainHash == 0 || hashes.PlainHash == plain[0], nil
}
