// Package containerhash knows the hashes by which the kubelet, the node daemon and the in-place
// engine recognise from which spec a container was started.
package containerhash

import (
	"encoding/json"
	"fmt"
	"hash/fnv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/dump"
)

// OfJSON returns the hash of JSON bytes as the kubelet makes it: FNV-1a 32 over the text that the
// deep-hash printer gives for the bytes.
func OfJSON(raw []byte) uint64 {
	hasher := fnv.New32a()
	// Writing to a hash never fails.
	_, _ = fmt.Fprintf(hasher, "%v", dump.ForHash(raw))
	return uint64(hasher.Sum32())
}

// Plain returns the values that a kubelet may have stored as the hash of a container: first that of
// Kubernetes 1.31 and later, over name and image, then the older one over the whole container. A
// container was started from this spec if either matches. Source: IP-78, IP-84.
func Plain(container *corev1.Container) ([]uint64, error) {
	named, err := json.Marshal(map[string]string{"name": container.Name, "image": container.Image})
	if err != nil {
		return nil, fmt.Errorf("encoding name and image of container %s: %w", container.Name, err)
	}
	whole, err := json.Marshal(container)
	if err != nil {
		return nil, fmt.Errorf("encoding container %s: %w", container.Name, err)
	}
	return []uint64{OfJSON(named), OfJSON(whole)}, nil
}
