package node

import (
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
)

const reasonRuntimeUnavailable = "ContainerRuntimeUnavailable"

// maxNote is what the API server takes as the text of an event, in bytes.
const maxNote = 1024

// reportRuntime returns what is told when the runtime is found or lost: a line in the log, and an event
// on the node for whoever looks there (KP-21).
func reportRuntime(recorder events.EventRecorder, nodeName string, log logr.Logger) func(error) {
	// The kubelet, too, gives the name of the node as its UID in events.
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName, UID: types.UID(nodeName)}}
	return func(reason error) {
		if reason == nil {
			log.Info("Container runtime answers")
			return
		}
		log.Error(reason, "Container runtime does not answer, looking again")
		note := "Containers of this node are not reported: " + reason.Error()
		recorder.Eventf(node, nil, corev1.EventTypeWarning, reasonRuntimeUnavailable, "FindingContainerRuntime",
			"%s", note[:min(len(note), maxNote)])
	}
}
