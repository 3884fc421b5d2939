package simulate_test

import (
	"bytes"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/cluster/simulate"
)

// TestStages checks the outer form; that the stages do what a kubelet does is seen on a cluster.
func TestStages(t *testing.T) {
	content, err := simulate.Stages()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for document := range bytes.SplitSeq(content, []byte("---\n")) {
		var stage struct {
			Kind     string
			Metadata struct{ Name string }
			Spec     struct {
				ResourceRef struct{ Kind string }
				Selector    struct{ MatchExpressions []any }
				Next        struct {
					StatusTemplate string
					Delete         bool
				}
			}
		}
		if err := yaml.Unmarshal(document, &stage); err != nil {
			t.Fatal(err)
		}
		if stage.Kind != "Stage" || stage.Metadata.Name == "" || len(stage.Spec.Selector.MatchExpressions) == 0 {
			t.Errorf("not a stage with a selector: %s", document)
		}
		if stage.Spec.Next.Delete == (stage.Spec.Next.StatusTemplate != "") {
			t.Errorf("stage %s does nothing, or two things", stage.Metadata.Name)
		}
		kinds[stage.Spec.ResourceRef.Kind]++
	}
	if kinds["Node"] != 1 || kinds["Pod"] != 7 || len(kinds) != 2 {
		t.Errorf("stages by kind: %v", kinds)
	}
}

func TestNodesAreTaintedBesideRealOnesOnly(t *testing.T) {
	for real, want := range map[int]int{0: 0, 1: 1} {
		nodes := simulate.Nodes(plan.Params{Name: "a", Nodes: real, Simulated: 3})
		if len(nodes) != 3 {
			t.Fatalf("%d nodes", len(nodes))
		}
		for _, node := range nodes {
			if len(node.Spec.Taints) != want {
				t.Errorf("beside %d real nodes: taints %v", real, node.Spec.Taints)
			}
			if node.Annotations[plan.SimulatedAnnotation] != plan.SimulatedValue {
				t.Errorf("kwok does not see %s", node.Name)
			}
		}
	}
}
