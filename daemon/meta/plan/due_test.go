package plan_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/daemon/meta/plan"
)

func ownedBy(apiVersion string, controller bool) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.OwnerReferences[0].APIVersion = apiVersion
		pod.OwnerReferences[0].Controller = new(controller)
	}
}

func injected(pod *corev1.Pod) {
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, plan.AnnotationSidecarSetHash, "")
}

func TestDue(t *testing.T) {
	without := func(hash string) string {
		return strings.Replace(upToDate, `,"extractedEnvFromMetadataHash":`+hash, "", 1)
	}
	cases := []struct {
		name       string
		pod        *corev1.Pod
		withoutEnv bool
		want       bool
		wantStart  bool
	}{
		{name: "M-16: a pod without the annotation, not at start", pod: aPod(), want: true},
		{name: "M-16, M-31: at start, too, while an in-place update waits for it", pod: aPod(updating(corev1.ConditionFalse)), want: true, wantStart: true},
		{name: "M-16: not at start after an in-place update", pod: aPod(updating(corev1.ConditionTrue)), want: true},
		{name: "E-22: nothing to do when all is reported", pod: aPod(reported(upToDate))},
		{
			name: "M-17: another ID", want: true, wantStart: true,
			pod: aPod(reported(strings.Replace(upToDate, "m1", "m0", 1))),
		},
		{
			name: "M-17: an ID that is not reported", want: true, wantStart: true,
			pod: aPod(reported(strings.Replace(upToDate, `"name":"side"`, `"name":"other"`, 1))),
		},
		{
			name: "M-17: more entries than containers", want: true, wantStart: true,
			pod: aPod(reported(upToDate), func(pod *corev1.Pod) {
				pod.Status.ContainerStatuses = pod.Status.ContainerStatuses[:1]
			}),
		},
		{
			name: "KP-13, P-17: statuses in another order than the spec are no difference",
			pod: aPod(reported(upToDate), func(pod *corev1.Pod) {
				pod.Status.ContainerStatuses[0], pod.Status.ContainerStatuses[1] = pod.Status.ContainerStatuses[1], pod.Status.ContainerStatuses[0]
			}),
		},
		{
			name: "KP-14: a container without an ID yet does not hide the others", want: true, wantStart: true,
			pod: aPod(reported(strings.Replace(upToDate, "s1", "s0", 1)), func(pod *corev1.Pod) {
				pod.Status.ContainerStatuses[0].ContainerID = ""
			}),
		},
		{
			name: "a container that waits is not missed",
			pod: aPod(reported(upToDate), func(pod *corev1.Pod) {
				pod.Status.ContainerStatuses[0].ContainerID = ""
			}),
		},
		{name: "M-17: a missing env hash", pod: aPod(reported(without("3702850206"))), want: true, wantStart: true},
		{name: "M-17: a missing env hash does not matter without the gate", pod: aPod(reported(without("3702850206"))), withoutEnv: true},
		{name: "an annotation that cannot be decoded", pod: aPod(reported("{")), want: true, wantStart: true},
		{
			name: "M-18: not a pod that is being deleted",
			pod:  aPod(func(pod *corev1.Pod) { pod.DeletionTimestamp = new(metav1.Now()) }),
		},
		{name: "M-18: not a pod without containers", pod: aPod(func(pod *corev1.Pod) { pod.Status.ContainerStatuses = nil })},
		{name: "IP-81: any version of our group", pod: aPod(ownedBy("apps.kruise.io/v7", true)), want: true},
		{name: "IP-81: not of another group", pod: aPod(ownedBy("apps/v1", true))},
		{name: "IP-81: not of an owner that is no controller", pod: aPod(ownedBy("apps.kruise.io/v1beta1", false))},
		{name: "IP-81: not of an owner whose version cannot be read", pod: aPod(ownedBy("a/b/c", true))},
		{name: "IP-81: any pod with injected sidecars", pod: aPod(ownedBy("apps/v1", true), injected), want: true},
		{name: "IP-81: not a bare pod", pod: aPod(func(pod *corev1.Pod) { pod.OwnerReferences = nil })},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := plan.Due(tc.pod, !tc.withoutEnv); got != tc.want {
				t.Errorf("Due: got %t, want %t", got, tc.want)
			}
			if got := plan.DueAtStart(tc.pod, !tc.withoutEnv); got != tc.wantStart {
				t.Errorf("DueAtStart: got %t, want %t", got, tc.wantStart)
			}
		})
	}
}
