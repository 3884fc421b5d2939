package cloneset

import "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"

// AliveReplicas returns how many pods a CloneSet asks for, which is what makes deletion protection of
// value Cascading refuse. Replicas that are not stated count as none. Source: CS-44, WH-120.
func AliveReplicas(set *v1beta1.CloneSet) int {
	if set.Spec.Replicas == nil {
		return 0
	}
	return int(*set.Spec.Replicas)
}
