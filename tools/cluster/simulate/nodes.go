package simulate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
)

// Nodes returns the simulated nodes of a cluster. Beside real nodes they have a taint, so that
// only pods that tolerate it are simulated.
func Nodes(p plan.Params) []*corev1.Node {
	var taints []corev1.Taint
	if p.Nodes > 0 {
		taints = []corev1.Taint{{
			Key: plan.SimulatedAnnotation, Value: plan.SimulatedValue, Effect: corev1.TaintEffectNoSchedule,
		}}
	}
	var nodes []*corev1.Node
	for i, name := range p.SimulatedNames() {
		nodes = append(nodes, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{
				Name:        name,
				Annotations: map[string]string{plan.SimulatedAnnotation: plan.SimulatedValue},
				Labels: map[string]string{
					corev1.LabelHostname:       name,
					corev1.LabelOSStable:       "linux",
					corev1.LabelArchStable:     "amd64",
					corev1.LabelTopologyRegion: "local",
					corev1.LabelTopologyZone:   fmt.Sprintf("zone-%d", i%3+1),
					"type":                     "kwok",
				},
			},
			Spec: corev1.NodeSpec{Taints: taints},
		})
	}
	return nodes
}
