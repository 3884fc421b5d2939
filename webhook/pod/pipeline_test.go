package pod_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/gates"
	"github.com/flotilla-k8s/flotilla/webhook/pod"
)

func owner(apiVersion string, controller *bool) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: "CloneSet", Name: "shop", UID: "1", Controller: controller}
}

func TestReadinessGate(t *testing.T) {
	const foreign corev1.PodConditionType = "example.org/warm"
	everyPod := gates.Default().With(gates.KruisePodReadinessGate, true)
	for _, c := range []struct {
		name    string
		gates   gates.Set
		owners  []metav1.OwnerReference
		present []corev1.PodConditionType
		want    []corev1.PodConditionType
	}{
		{name: "WH-58: a pod of v1beta1", owners: []metav1.OwnerReference{owner("apps.kruise.io/v1beta1", new(true))},
			want: []corev1.PodConditionType{wire.KruisePodReady}},
		{name: "WH-58: a pod of v1alpha1", owners: []metav1.OwnerReference{owner("apps.kruise.io/v1alpha1", new(true))},
			want: []corev1.PodConditionType{wire.KruisePodReady}},
		{name: "WH-58: the controller counts, wherever it stands", owners: []metav1.OwnerReference{
			owner("v1", nil), owner("apps.kruise.io/v1beta1", new(true))}, want: []corev1.PodConditionType{wire.KruisePodReady}},
		{name: "WH-58: gates that are there stay in front", present: []corev1.PodConditionType{foreign},
			owners: []metav1.OwnerReference{owner("apps.kruise.io/v1beta1", new(true))},
			want:   []corev1.PodConditionType{foreign, wire.KruisePodReady}},
		{name: "WH-58: the gate is not added twice", present: []corev1.PodConditionType{wire.KruisePodReady, foreign},
			owners: []metav1.OwnerReference{owner("apps.kruise.io/v1beta1", new(true))},
			want:   []corev1.PodConditionType{wire.KruisePodReady, foreign}},

		{name: "WH-58: no owner"},
		{name: "WH-58: an owner that does not control", owners: []metav1.OwnerReference{owner("apps.kruise.io/v1beta1", nil)}},
		{name: "WH-58: an owner that says it does not control", owners: []metav1.OwnerReference{owner("apps.kruise.io/v1beta1", new(false))}},
		{name: "WH-58: a controller of another group", owners: []metav1.OwnerReference{owner("apps/v1", new(true))}},
		{name: "WH-58: a group that only begins like ours", owners: []metav1.OwnerReference{owner("apps.kruise.io.example.org/v1", new(true))}},
		{name: "WH-58: a version that is none", owners: []metav1.OwnerReference{owner("apps.kruise.io/v1/x", new(true))}},

		{name: "WH-58: every pod with gate KruisePodReadinessGate", gates: everyPod, want: []corev1.PodConditionType{wire.KruisePodReady}},
	} {
		t.Run(c.name, func(t *testing.T) {
			created := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: c.owners}}
			for _, condition := range c.present {
				created.Spec.ReadinessGates = append(created.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: condition})
			}
			want := created.DeepCopy()
			want.Spec.ReadinessGates = nil
			for _, condition := range c.want {
				want.Spec.ReadinessGates = append(want.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: condition})
			}
			if err := pod.Create(created, pod.World{Gates: c.gates}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, created); diff != "" {
				t.Error(diff)
			}
		})
	}
}
