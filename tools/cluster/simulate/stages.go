// Package simulate knows how simulated nodes and the pods on them behave. The behaviour is
// written as stages of kwok, which plays them against the API server.
package simulate

import (
	"bytes"
	_ "embed"
	"fmt"

	"sigs.k8s.io/yaml"
)

//go:embed status.tmpl
var statusTemplate string

//go:embed completed.tmpl
var completedTemplate string

//go:embed node.tmpl
var nodeTemplate string

// stage is the part of kwok's Stage that we use.
type stage struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Metadata   named     `json:"metadata"`
	Spec       stageSpec `json:"spec"`
}

type named struct {
	Name string `json:"name"`
}

type stageSpec struct {
	ResourceRef resourceRef `json:"resourceRef"`
	Selector    selector    `json:"selector"`
	Delay       *delay      `json:"delay,omitempty"`
	Next        next        `json:"next"`
}

type resourceRef struct {
	APIGroup string `json:"apiGroup"`
	Kind     string `json:"kind"`
}

type selector struct {
	MatchExpressions []expression `json:"matchExpressions"`
}

// expression compares the results of a jq program with values.
type expression struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// delay is a random time between two bounds, in milliseconds.
type delay struct {
	Least int64 `json:"durationMilliseconds"`
	Most  int64 `json:"jitterDurationMilliseconds"`
}

type next struct {
	StatusTemplate string `json:"statusTemplate,omitempty"`
	Delete         bool   `json:"delete,omitempty"`
}

// jq programs that tell whether something about a pod has to change.
const (
	// restartable lists the containers that start again: all but ordinary init containers.
	restartable = `(.spec.containers + [.spec.initContainers[]? | select(.restartPolicy == "Always")])`
	statuses    = `(.status.containerStatuses + .status.initContainerStatuses)`

	imageDiffers = `[` + restartable + `[] as $c | ` + statuses + `[]? ` +
		`| select(.name == $c.name and .state.running != null and .image != $c.image)] | length > 0`
	containerWaits   = `[` + statuses + `[]? | select(.state.waiting != null)] | length > 0`
	resourcesDiffer  = `[.spec.containers[] | .resources // {}] != [.status.containerStatuses[]? | .resources // {}]`
	readinessDiffers = `(([.spec.readinessGates[]?.conditionType] - [.status.conditions[]? | select(.status == "True") | .type] == []) ` +
		`and ([` + statuses + `[]?.ready] | all)) != ([.status.conditions[]? | select(.type == "Ready" and .status == "True")] != [])`
)

// Stages returns the stages of nodes and pods, as kwok's configuration file.
//
// A pod's status has one template, which carries on from whatever is reported. The stages differ
// in what makes a pod need it and in how long a kubelet takes: an image that changes stops the
// container first and starts it again later, with a moment between in which the pod is not ready.
// Changed resources are granted without a restart. Pods that are not restarted run to completion.
func Stages() ([]byte, error) {
	alive := expression{Key: ".metadata.deletionTimestamp", Operator: "DoesNotExist"}
	running := in(".status.phase", "Running")
	return marshal(
		node("node-start", nodeTemplate, expression{Key: `.status.conditions[]? | select(.type == "Ready") | .status`, Operator: "NotIn", Values: []string{"True"}}),
		pod("pod-start", delay{100, 1000}, statusTemplate, alive, in(".status.phase", "Pending")),
		pod("container-stop", delay{100, 300}, statusTemplate, alive, running, in(imageDiffers, "true")),
		pod("container-start", delay{300, 900}, statusTemplate, alive, running, in(containerWaits, "true")),
		pod("pod-readiness", delay{0, 50}, statusTemplate, alive, running, in(readinessDiffers, "true")),
		pod("pod-resize", delay{100, 300}, statusTemplate, alive, running, in(resourcesDiffer, "true")),
		pod("pod-complete", delay{1000, 2000}, completedTemplate, alive, running, in(".spec.restartPolicy", "Never", "OnFailure")),
		podDelete(delay{100, 300}),
	)
}

func in(key string, values ...string) expression {
	return expression{Key: key, Operator: "In", Values: values}
}

func pod(name string, d delay, template string, when ...expression) stage {
	return newStage(name, "Pod", &d, next{StatusTemplate: template}, when)
}

func podDelete(d delay) stage {
	when := []expression{{Key: ".metadata.deletionTimestamp", Operator: "Exists"}}
	return newStage("pod-delete", "Pod", &d, next{Delete: true}, when)
}

func node(name, template string, when ...expression) stage {
	return newStage(name, "Node", nil, next{StatusTemplate: template}, when)
}

func newStage(name, kind string, d *delay, then next, when []expression) stage {
	return stage{
		APIVersion: "kwok.x-k8s.io/v1alpha1", Kind: "Stage", Metadata: named{name},
		Spec: stageSpec{
			ResourceRef: resourceRef{APIGroup: "v1", Kind: kind},
			Selector:    selector{MatchExpressions: when},
			Delay:       d,
			Next:        then,
		},
	}
}

func marshal(stages ...stage) ([]byte, error) {
	var documents [][]byte
	for _, s := range stages {
		document, err := yaml.Marshal(s)
		if err != nil {
			return nil, fmt.Errorf("encoding stage %s: %w", s.Metadata.Name, err)
		}
		documents = append(documents, document)
	}
	return bytes.Join(documents, []byte("---\n")), nil
}
