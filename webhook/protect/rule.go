// Package protect knows when the deletion of a labelled object is refused, and how a refusal is
// recorded.
package protect

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// Values of the label (WH-118). Any other value protects nothing.
const (
	always    = "Always"
	cascading = "Cascading"
)

// WorkloadRefusal returns why a workload must not be deleted, or "" if it may. object is the workload
// as stored and replicas the number of pods it asks for. Source: DP-3, DP-6, DP-8.
func WorkloadRefusal(object metav1.Object, replicas int) string {
	if !object.GetDeletionTimestamp().IsZero() {
		return ""
	}
	value := object.GetLabels()[wire.LabelDeleteProtection]
	refusal := fmt.Sprintf("forbidden by ResourcesProtectionDeletion for %s=%s", wire.LabelDeleteProtection, value)
	switch {
	case value == always:
		return refusal
	case value == cascading && replicas > 0:
		return fmt.Sprintf("%s and replicas %d>0", refusal, replicas)
	default:
		return ""
	}
}
