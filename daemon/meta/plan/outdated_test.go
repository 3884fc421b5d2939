package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/daemon/meta/plan"
	"github.com/flotilla-k8s/flotilla/shared/containerhash"
)

// relabelled gives label l another value than main was started with.
func relabelled(pod *corev1.Pod) { pod.Labels["l"] = "2" }

func TestOutdated(t *testing.T) {
	hashes, err := containerhash.Plain(&corev1.Container{Name: "main", Image: "i:1"})
	if err != nil {
		t.Fatal(err)
	}
	// main as the kubelet of today started it from i:1.
	current := strings.Replace(upToDate, `"plainHash":11`, fmt.Sprintf(`"plainHash":%d`, hashes[0]), 1)
	cases := []struct {
		name string
		pod  *corev1.Pod
		want []string
	}{
		{name: "IP-86: another value than it was started with, in an update", pod: aPod(relabelled, reported(current), updating("False")), want: []string{"main"}},
		{name: "IP-86: the label that the env reads was removed", pod: aPod(reported(current), updating("False"), func(pod *corev1.Pod) { pod.Labels = nil }), want: []string{"main"}},
		{name: "IP-86: not with the value that it was started with", pod: aPod(reported(current), updating("False"))},
		{name: "IP-25, M-25: not outside of an update", pod: aPod(relabelled, reported(current), updating("True"))},
		{name: "IP-42: not in a pod without the condition", pod: aPod(relabelled, reported(current))},
		{name: "not before it was reported", pod: aPod(relabelled, updating("False"))},
		{name: "not from an annotation that cannot be decoded", pod: aPod(relabelled, reported("{"), updating("False"))},
		{
			name: "IP-86: not while its hash is unknown",
			pod:  aPod(relabelled, reported(strings.Replace(current, `,"extractedEnvFromMetadataHash":3702850206`, "", 1)), updating("False")),
		},
		{name: "not by the report of an earlier container", pod: aPod(relabelled, reported(strings.Replace(current, "m1", "m0", 1)), updating("False"))},
		{
			name: "P-16: not if its image has changed as well, which the kubelet acts on",
			pod:  aPod(relabelled, reported(current), updating("False"), func(pod *corev1.Pod) { pod.Spec.Containers[0].Image = "i:2" }),
		},
		{
			name: "a container without a hash by the kubelet is judged by its env alone",
			pod:  aPod(relabelled, reported(strings.Replace(upToDate, `"plainHash":11`, `"plainHash":0`, 1)), updating("False")), want: []string{"main"},
		},
		{
			name: "not in a pod that is being deleted",
			pod:  aPod(relabelled, reported(current), updating("False"), func(pod *corev1.Pod) { pod.DeletionTimestamp = new(metav1.Now()) }),
		},
		{name: "IP-81: not in the pod of another", pod: aPod(relabelled, reported(current), updating("False"), ownedBy("apps/v1", true))},
		{
			name: "not a container without a status",
			pod:  aPod(relabelled, reported(current), updating("False"), func(pod *corev1.Pod) { pod.Status.ContainerStatuses = nil }),
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			outdated, err := plan.Outdated(tc.pod)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, status := range outdated {
				got = append(got, status.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
