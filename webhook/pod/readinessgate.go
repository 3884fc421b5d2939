package pod

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/gates"
)

// addReadinessGate gives a pod of our workloads, or with the gate every pod, the readiness gate by which
// controllers take it out of traffic. Gates that are there stay, in their order. Source: WH-58, IP-90.
func addReadinessGate(pod *corev1.Pod, w World) error {
	if !ownedByOurs(pod) && !w.Gates.Enabled(gates.KruisePodReadinessGate) {
		return nil
	}
	gate := corev1.PodReadinessGate{ConditionType: wire.KruisePodReady}
	if !slices.Contains(pod.Spec.ReadinessGates, gate) {
		pod.Spec.ReadinessGates = append(pod.Spec.ReadinessGates, gate)
	}
	return nil
}

func ownedByOurs(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return false
	}
	version, err := schema.ParseGroupVersion(owner.APIVersion)
	// An owner whose version cannot be parsed is none of ours; the API server refuses such a pod.
	return err == nil && version.Group == v1beta1.GroupName
}
