package install

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// unmet says what an object still lacks to be ready, and nothing once it is. Kinds without a state are
// ready as soon as they exist.
func unmet(object *unstructured.Unstructured) string {
	name := object.GetKind() + " " + object.GetName()
	switch object.GetKind() {
	case "CustomResourceDefinition":
		if !established(object) {
			return name + " to be established"
		}
	case "Deployment":
		want := number(object, 1, "spec", "replicas")
		return unmetPods(object, name, want, "updatedReplicas", "availableReplicas", "replicas")
	case "DaemonSet":
		want := number(object, 0, "status", "desiredNumberScheduled")
		return unmetPods(object, name, want, "updatedNumberScheduled", "numberAvailable", "currentNumberScheduled")
	}
	return ""
}

// unmetPods compares the three counters of a workload with the number of pods it should have: those of the
// present template, those available, and all, which says that none of an older template is left.
func unmetPods(object *unstructured.Unstructured, name string, want int64, counters ...string) string {
	if number(object, 0, "status", "observedGeneration") < object.GetGeneration() {
		return name + " to be noticed by its controller"
	}
	for _, counter := range counters {
		if have := number(object, 0, "status", counter); have != want {
			return fmt.Sprintf("%s: %s %d of %d", name, counter, have, want)
		}
	}
	return ""
}

func established(crd *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	for _, c := range conditions {
		condition, ok := c.(map[string]any)
		if ok && condition["type"] == "Established" {
			return condition["status"] == "True"
		}
	}
	return false
}

// number reads an integer field, or returns what its absence means.
func number(object *unstructured.Unstructured, absent int64, fields ...string) int64 {
	n, found, err := unstructured.NestedInt64(object.Object, fields...)
	if !found || err != nil {
		return absent
	}
	return n
}

// WaitReady waits until all objects are ready and tells, whenever it changes, what it waits for.
func (c *Cluster) WaitReady(ctx context.Context, objects []*unstructured.Unstructured, say func(string)) error {
	told := ""
	err := Poll(ctx, 500*time.Millisecond, func() (bool, error) {
		waiting, err := c.waitingFor(ctx, objects)
		if err != nil {
			return false, err
		}
		if waiting != "" && waiting != told {
			say("Waiting for " + waiting)
		}
		told = waiting
		return waiting == "", nil
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("waiting for %s: %w", told, err)
	}
	return err
}

func (c *Cluster) waitingFor(ctx context.Context, objects []*unstructured.Unstructured) (string, error) {
	var waiting []string
	for _, object := range objects {
		live, err := c.Get(ctx, object)
		if err != nil {
			return "", err
		}
		what := unmet(live)
		if what == "" {
			continue
		}
		if Runs(live) {
			trouble, err := c.trouble(ctx, live)
			if err != nil {
				return "", err
			}
			what += trouble
		}
		waiting = append(waiting, what)
	}
	return strings.Join(waiting, "; "), nil
}

// trouble tells why containers of a workload's pods do not run, in brackets; empty if nothing is known.
func (c *Cluster) trouble(ctx context.Context, workload *unstructured.Unstructured) (string, error) {
	selector, _, err := unstructured.NestedStringMap(workload.Object, "spec", "selector", "matchLabels")
	if err != nil {
		return "", fmt.Errorf("reading the selector of %s: %w", workload.GetName(), err)
	}
	pods, err := c.dynamic.Resource(podResource()).Namespace(workload.GetNamespace()).
		List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: selector})})
	if err != nil {
		return "", fmt.Errorf("listing pods of %s: %w", workload.GetName(), err)
	}
	for _, pod := range pods.Items {
		if reason := waitingReason(&pod); reason != "" {
			return fmt.Sprintf(" (%s: %s)", pod.GetName(), reason), nil
		}
	}
	return "", nil
}

// WaitAdmitted waits until the API server would create an object, which takes a webhook that answers, and
// tells what stands in the way.
func (c *Cluster) WaitAdmitted(ctx context.Context, object *unstructured.Unstructured, say func(string)) error {
	resource, err := c.resource(ctx, object)
	if err != nil {
		return err
	}
	var told string
	err = Poll(ctx, 500*time.Millisecond, func() (bool, error) {
		_, err := resource.Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil {
			return true, nil
		}
		if err.Error() != told {
			told = err.Error()
			say("Waiting for admission: " + told)
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for admission (%s): %w", told, err)
	}
	return nil
}
