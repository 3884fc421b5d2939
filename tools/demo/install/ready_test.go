package install

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestUnmet(t *testing.T) {
	cases := []struct {
		name, object, want string
	}{
		{"a kind without a state", `{kind: ServiceAccount, metadata: {name: x}}`, ""},
		{"a CRD that is new", `{kind: CustomResourceDefinition, metadata: {name: x}}`, "CustomResourceDefinition x to be established"},
		{"a CRD that is served", `{kind: CustomResourceDefinition, metadata: {name: x},
			status: {conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "True"}]}}`, ""},
		{"a Deployment nobody has looked at", `{kind: Deployment, metadata: {name: x, generation: 2}, spec: {replicas: 2},
			status: {observedGeneration: 1, updatedReplicas: 2, availableReplicas: 2, replicas: 2}}`, "Deployment x to be noticed by its controller"},
		{"a Deployment with a pod to come", `{kind: Deployment, metadata: {name: x, generation: 1}, spec: {replicas: 2},
			status: {observedGeneration: 1, updatedReplicas: 2, availableReplicas: 1, replicas: 2}}`, "Deployment x: availableReplicas 1 of 2"},
		{"a Deployment with a pod of an older template", `{kind: Deployment, metadata: {name: x, generation: 1}, spec: {replicas: 2},
			status: {observedGeneration: 1, updatedReplicas: 2, availableReplicas: 2, replicas: 3}}`, "Deployment x: replicas 3 of 2"},
		{"a Deployment without a number of replicas", `{kind: Deployment, metadata: {name: x, generation: 1}, spec: {},
			status: {observedGeneration: 1, updatedReplicas: 1, availableReplicas: 1, replicas: 1}}`, ""},
		{"a DaemonSet with an old pod", `{kind: DaemonSet, metadata: {name: x, generation: 1},
			status: {observedGeneration: 1, desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 2, currentNumberScheduled: 2}}`,
			"DaemonSet x: updatedNumberScheduled 1 of 2"},
		{"a DaemonSet that is done", `{kind: DaemonSet, metadata: {name: x, generation: 1},
			status: {observedGeneration: 1, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2, currentNumberScheduled: 2}}`, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if have := unmet(parse(t, c.object)); have != c.want {
				t.Errorf("unmet is %q, want %q", have, c.want)
			}
		})
	}
}

func TestWaitingReason(t *testing.T) {
	cases := map[string]string{
		`{kind: Pod, status: {containerStatuses: [{state: {waiting: {reason: ContainerCreating}}}]}}`:                        "",
		`{kind: Pod, status: {containerStatuses: [{state: {running: {}}}, {state: {waiting: {reason: ImagePullBackOff}}}]}}`: "ImagePullBackOff",
		`{kind: Pod, status: {}}`: "",
	}
	for object, want := range cases {
		if have := waitingReason(parse(t, object)); have != want {
			t.Errorf("reason of %s is %q, want %q", object, have, want)
		}
	}
}

// parse reads an object as the API server would give it, with whole numbers as integers.
func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte("{apiVersion: v1, " + text[1:]))
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return object
}
