package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Readiness gates and conditions on pods.
const (
	// InPlaceUpdateReady is False while a pod is updated in place and True otherwise (IP-1).
	InPlaceUpdateReady corev1.PodConditionType = "InPlaceUpdateReady"
	// ReasonStartInPlaceUpdate is the reason of InPlaceUpdateReady while it is False.
	ReasonStartInPlaceUpdate = "StartInPlaceUpdate"
	// KruisePodReady is shared by several writers, each of which holds the pod not ready by a
	// ReadinessKey in the condition's message (IP-92).
	KruisePodReady corev1.PodConditionType = "KruisePodReady"
	// ReasonReadinessGatesNotReady is the kubelet's reason of Ready=False for an unmet gate.
	ReasonReadinessGatesNotReady = "ReadinessGatesNotReady"
)

// ReadinessKey is one reason why a pod is held not ready.
type ReadinessKey struct {
	UserAgent string `json:"userAgent"`
	Key       string `json:"key"`
}

// Keys written by the lifecycle of a workload.
//
//nolint:gochecknoglobals // constants, but for the language
var (
	ReadinessKeyPreDelete = ReadinessKey{UserAgent: "Lifecycle", Key: "preDeleteHook"}
	ReadinessKeyPreUpdate = ReadinessKey{UserAgent: "Lifecycle", Key: "preUpdateHook"}
)

// ParseReadinessKeys reads the message of a KruisePodReady condition. An empty message holds no key.
func ParseReadinessKeys(message string) ([]ReadinessKey, error) {
	if message == "" {
		return nil, nil
	}
	var keys []ReadinessKey
	if err := json.Unmarshal([]byte(message), &keys); err != nil {
		return nil, fmt.Errorf("decoding message of condition %s: %w", KruisePodReady, err)
	}
	return keys, nil
}

// FormatReadinessKeys writes the message of a KruisePodReady condition: sorted by user agent, then
// key, and "[]" without any.
func FormatReadinessKeys(keys []ReadinessKey) string {
	sorted := slices.Clone(keys)
	slices.SortFunc(sorted, func(a, b ReadinessKey) int {
		return cmp.Or(cmp.Compare(a.UserAgent, b.UserAgent), cmp.Compare(a.Key, b.Key))
	})
	if len(sorted) == 0 {
		return "[]"
	}
	raw, err := json.Marshal(sorted)
	if err != nil {
		// Two string fields always encode.
		panic(err)
	}
	return string(raw)
}
