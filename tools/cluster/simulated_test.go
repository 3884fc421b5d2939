package main

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestSimulatedNodes(t *testing.T) {
	c := newTool(t, "test-sim-"+strconv.Itoa(os.Getpid()%10000))
	client := c.up(t.Context(), "--nodes", "0", "--simulated", "2")
	ctx, pods := t.Context(), client.Pods(metav1.NamespaceDefault)
	const gate = "example.com/gate"
	_, err := pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "gated"},
		Spec: corev1.PodSpec{
			ReadinessGates: []corev1.PodReadinessGate{{ConditionType: gate}},
			InitContainers: []corev1.Container{
				{Name: "once", Image: "a:1"},
				{Name: "side", Image: "b:1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)},
			},
			Containers: []corev1.Container{
				{Name: "main", Image: "c:1", Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")},
				}},
				{Name: "other", Image: "d:1"},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var pod *corev1.Pod
	see := func(what string, check func() error) {
		t.Helper()
		eventually(t, what, func() error {
			var err error
			if pod, err = pods.Get(ctx, "gated", metav1.GetOptions{}); err != nil {
				return err
			}
			return check()
		})
	}
	patch := func(body string, subresources ...string) {
		t.Helper()
		_, err := pods.Patch(ctx, "gated", types.StrategicMergePatchType, []byte(body), metav1.PatchOptions{}, subresources...)
		if err != nil {
			t.Fatal(err)
		}
	}
	condition := func(kind corev1.PodConditionType, want corev1.ConditionStatus, reason string) error {
		for _, have := range pod.Status.Conditions {
			if have.Type == kind && have.Status == want && have.Reason == reason {
				return nil
			}
		}
		return fmt.Errorf("want condition %s=%s %q, have %+v", kind, want, reason, pod.Status.Conditions)
	}
	see("containers run and the gate holds readiness back", func() error {
		if err := condition(corev1.ContainersReady, corev1.ConditionTrue, ""); err != nil {
			return err
		}
		return condition(corev1.PodReady, corev1.ConditionFalse, "ReadinessGatesNotReady")
	})
	patch(`{"status":{"conditions":[{"type":"`+gate+`","status":"True"}]}}`, "status")
	see("an open gate makes the pod ready", func() error { return ready(pod) })

	first := pod.DeepCopy()
	patch(`{"spec":{"containers":[{"name":"main","image":"c:2"}],"initContainers":[{"name":"side","image":"b:2"}]}}`)
	see("changed images restart their containers and no other", func() error {
		was, is := first.Status.ContainerStatuses, pod.Status.ContainerStatuses
		sideWas, side := first.Status.InitContainerStatuses[1], pod.Status.InitContainerStatuses[1]
		switch {
		case is[0].Image != "c:2" || is[0].RestartCount != 1 || side.Image != "b:2" || side.RestartCount != 1:
			return fmt.Errorf("not restarted: %+v %+v", is[0], side)
		case is[0].ImageID == was[0].ImageID || is[0].ContainerID == was[0].ContainerID || side.ImageID == sideWas.ImageID:
			return fmt.Errorf("identities stayed: %+v", is[0])
		case is[0].LastTerminationState.Terminated == nil || is[0].State.Running == nil:
			return fmt.Errorf("the states do not tell: %+v", is[0])
		case is[1].RestartCount != 0 || is[1].ContainerID != was[1].ContainerID:
			t.Fatalf("the other container changed: %+v", is[1])
		case pod.Status.PodIP != first.Status.PodIP || pod.Status.InitContainerStatuses[0].RestartCount != 0:
			t.Fatalf("the pod's address or its init container changed: %+v", pod.Status)
		}
		return ready(pod)
	})

	patch(`{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"20m"}}}]}}`, "resize")
	see("a resize is granted without a restart", func() error {
		status := pod.Status.ContainerStatuses[0]
		if status.Resources == nil || status.Resources.Requests.Cpu().String() != "20m" || status.AllocatedResources.Cpu().String() != "20m" {
			return fmt.Errorf("resources are %+v", status.Resources)
		}
		if status.RestartCount != 1 {
			t.Fatalf("the container restarted: %+v", status)
		}
		return nil
	})
	patch(`{"status":{"conditions":[{"type":"`+gate+`","status":"False"}]}}`, "status")
	see("a shut gate makes the pod unready", func() error {
		return condition(corev1.PodReady, corev1.ConditionFalse, "ReadinessGatesNotReady")
	})

	_, err = pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "job"},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "main", Image: "c:1"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "a pod that is not restarted completes", func() error {
		job, err := pods.Get(ctx, "job", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if job.Status.Phase != corev1.PodSucceeded || job.Status.ContainerStatuses[0].State.Terminated == nil {
			return fmt.Errorf("phase %s: %+v", job.Status.Phase, job.Status.ContainerStatuses)
		}
		return nil
	})
	if err := pods.Delete(ctx, "gated", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a deleted pod goes", func() error {
		_, err := pods.Get(ctx, "gated", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is still there: %w", err)
	})

	c.must(t.Context(), "down", "--keep-data")
	if left := c.processes(); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	client = c.up(t.Context())
	if _, err := client.Pods(metav1.NamespaceDefault).Get(ctx, "job", metav1.GetOptions{}); err != nil {
		t.Errorf("the kept data has lost a pod: %v", err)
	}
}
