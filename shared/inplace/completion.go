package inplace

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/containerhash"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
)

// Completed tells whether the last in-place update of a pod is done: no grace period, no batch left,
// and every container it changed runs what the pod asks for. A pod that was never updated in place
// is done. If it is not, waitingFor says what is missing, in words for users. An annotation that
// cannot be read is an error. Source: IP-71, IP-72.
func Completed(pod *corev1.Pod, gates Gates) (done bool, waitingFor string, err error) {
	grace, err := wire.GetInPlaceGrace(pod)
	if err != nil {
		return false, "", err
	}
	if grace != nil {
		return false, "the end of the grace period", nil
	}
	state, err := wire.GetInPlaceState(pod)
	if err != nil || state == nil {
		return err == nil, "", err
	}
	waitingFor, err = containersDone(pod, state, gates)
	if err != nil || waitingFor != "" {
		return false, waitingFor, err
	}
	if left := remaining(state); len(left) > 0 {
		return false, "the update of container " + strings.Join(left, ", "), nil
	}
	return true, "", nil
}

// remaining returns the sorted names of the containers that later batches still have to change.
func remaining(state *wire.InPlaceState) []string {
	names := pendingOfState(state).containers()
	names = slices.AppendSeq(names, maps.Keys(state.NextContainerResources))
	slices.Sort(names)
	return slices.Compact(names)
}

// containersDone looks at the containers that were changed so far. It returns what is being waited
// for, or the empty string if nothing is. The daemon's word about the running containers decides
// where there is one; otherwise the kubelet's status. Readiness does not count. Source: IP-73 to
// IP-79.
func containersDone(pod *corev1.Pod, state *wire.InPlaceState, gates Gates) (waitingFor string, err error) {
	meta, err := wire.GetRuntimeContainersMeta(pod)
	if err != nil {
		return "", err
	}
	if state.UpdateEnvFromMetadata {
		if waitingFor, err := waitsForEnv(pod, meta); err != nil || waitingFor != "" {
			return waitingFor, err
		}
	}
	if gates.VerticalScaling && state.UpdateResources {
		if waitingFor := waitsForResources(pod, state); waitingFor != "" {
			return waitingFor, nil
		}
	}
	started, err := startedFromSpec(pod, meta)
	if err != nil || started {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(state.LastContainerStatuses)) {
		if waitingFor := waitsForImage(pod, name, state.LastContainerStatuses[name]); waitingFor != "" {
			return waitingFor, nil
		}
	}
	return "", nil
}

// current returns what the daemon says of a container, or nil if it says nothing of the one that
// runs now. Source: IP-78.
func current(pod *corev1.Pod, meta *wire.RuntimeContainersMeta, name string) *wire.RuntimeContainerMeta {
	status, entry := podstate.ContainerStatus(pod, name), meta.Container(name)
	if status == nil || entry == nil || status.ContainerID == "" || status.ContainerID != entry.ContainerID {
		return nil
	}
	return entry
}

// startedFromSpec tells whether the daemon knows that every container runs what the pod asks for.
// Source: IP-76, IP-78.
func startedFromSpec(pod *corev1.Pod, meta *wire.RuntimeContainersMeta) (bool, error) {
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		entry := current(pod, meta, c.Name)
		if entry == nil {
			return false, nil
		}
		hashes, err := containerhash.Plain(c)
		if err != nil {
			return false, err
		}
		if !slices.Contains(hashes, entry.Hashes.PlainHash) {
			return false, nil
		}
	}
	return true, nil
}

// waitsForEnv says which container does not have the env yet that the pod's metadata asks for.
// Only the daemon can tell. Source: IP-74, IP-78.
func waitsForEnv(pod *corev1.Pod, meta *wire.RuntimeContainersMeta) (string, error) {
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		entry := current(pod, meta, c.Name)
		if entry == nil {
			return fmt.Sprintf("the node daemon to report container %s", c.Name), nil
		}
		expected, err := containerhash.EnvFromMetadata(c, pod)
		if err != nil {
			return "", err
		}
		if entry.Hashes.ExtractedEnvFromMetadataHash != expected {
			return fmt.Sprintf("container %s to restart with the env of the new labels and annotations", c.Name), nil
		}
	}
	return "", nil
}

// waitsForResources says which container that was changed does not run with the cpu and memory that
// the pod asks for. Source: IP-75, P-10.
func waitsForResources(pod *corev1.Pod, state *wire.InPlaceState) string {
	for _, batch := range state.ContainerBatchesRecord {
		for _, name := range batch.Containers {
			c, status := container(pod, name), podstate.ContainerStatus(pod, name)
			if c == nil {
				continue
			}
			if status == nil || status.Resources == nil ||
				!sameResources(c.Resources.Limits, status.Resources.Limits) ||
				!sameResources(c.Resources.Requests, status.Resources.Requests) {
				return fmt.Sprintf("container %s to be resized", name)
			}
		}
	}
	return ""
}

func sameResources(want, have corev1.ResourceList) bool {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		wanted, found := want[name]
		if actual := have[name]; found && wanted.Cmp(actual) != 0 {
			return false
		}
	}
	return true
}
