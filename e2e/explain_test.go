package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// explain logs what somebody who looks for the cause of a failure asks first.
func (s *scene) explain(ctx context.Context) {
	var text strings.Builder
	fmt.Fprintf(&text, "state of namespace %s:\n", s.ns)
	var sets v1beta1.CloneSetList
	if err := s.List(ctx, &sets, client.InNamespace(s.ns)); err != nil {
		fmt.Fprintln(&text, "listing CloneSets:", err)
	}
	for _, set := range sets.Items {
		status, err := json.Marshal(set.Status)
		if err != nil {
			status = []byte(err.Error())
		}
		fmt.Fprintf(&text, "CloneSet %s, generation %d: %s\n", set.Name, set.Generation, status)
	}
	s.explainPods(ctx, &text)
	s.explainEvents(ctx, &text)
	s.t.Log(text.String())
}

func (s *scene) explainPods(ctx context.Context, text *strings.Builder) {
	var pods corev1.PodList
	if err := s.List(ctx, &pods, client.InNamespace(s.ns)); err != nil {
		fmt.Fprintln(text, "listing pods:", err)
	}
	for _, p := range pods.Items {
		fmt.Fprintf(text, "pod %s on %q: images %s, revision %s, state %s, deleted %v\n", p.Name, p.Spec.NodeName, imageOf(p),
			p.Labels[wire.LabelRevision], p.Labels[wire.LabelLifecycleState], p.DeletionTimestamp)
		for _, c := range p.Status.Conditions {
			if c.Status != corev1.ConditionTrue {
				fmt.Fprintf(text, "  %s is %s: %s %s\n", c.Type, c.Status, c.Reason, c.Message)
			}
		}
		for _, c := range p.Status.ContainerStatuses {
			state, err := json.Marshal(c.State)
			if err != nil {
				state = []byte(err.Error())
			}
			fmt.Fprintf(text, "  container %s: image %s (%s), restarts %d, %s\n", c.Name, c.Image, c.ImageID, c.RestartCount, state)
		}
		for _, key := range []string{wire.AnnotationInPlaceState, wire.AnnotationInPlaceGrace} {
			if value, found := p.Annotations[key]; found {
				fmt.Fprintf(text, "  %s: %s\n", key, value)
			}
		}
	}
}

func (s *scene) explainEvents(ctx context.Context, text *strings.Builder) {
	events, err := s.core.EventsV1().Events(s.ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		fmt.Fprintln(text, "listing events:", err)
		return
	}
	for _, e := range events.Items {
		fmt.Fprintf(text, "event %s %s/%s: %s %s\n", e.CreationTimestamp.UTC().Format("15:04:05"), e.Regarding.Kind, e.Regarding.Name, e.Reason, e.Note)
	}
}
