package install

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func podResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "pods"}
}

// waitingReason returns why the first container that does not run waits, as the kubelet says it. The usual
// moments of a start are no reason.
func waitingReason(pod *unstructured.Unstructured) string {
	statuses, _, _ := unstructured.NestedSlice(pod.Object, "status", "containerStatuses")
	for _, s := range statuses {
		status, ok := s.(map[string]any)
		if !ok {
			continue
		}
		reason, found, _ := unstructured.NestedString(status, "state", "waiting", "reason")
		if found && reason != "ContainerCreating" && reason != "PodInitializing" {
			return reason
		}
	}
	return ""
}
