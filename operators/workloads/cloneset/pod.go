package cloneset

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
	"github.com/flotilla-k8s/flotilla/shared/revision"
)

// newPod makes the pod of one instance at a revision (CS-16 to CS-19).
func newPod(set *appsv1beta1.CloneSet, template *corev1.PodTemplateSpec, labels map[string]string, id string, now time.Time) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:            set.Name + "-" + id,
			GenerateName:    set.Name + "-",
			Namespace:       set.Namespace,
			Labels:          map[string]string{},
			Annotations:     maps.Clone(template.Annotations),
			Finalizers:      slices.Clone(template.Finalizers),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, kind())},
		},
		Spec: *template.Spec.DeepCopy(),
	}
	maps.Copy(pod.Labels, template.Labels)
	maps.Copy(pod.Labels, labels)
	pod.Labels[wire.LabelCloneSetInstanceID] = id
	podstate.SetLifecycle(pod, wire.LifecyclePreparingNormal, now)
	if !podstate.HasGate(pod, wire.InPlaceUpdateReady) {
		pod.Spec.ReadinessGates = append(pod.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: wire.InPlaceUpdateReady})
	}
	pod.Spec.Volumes = withClaims(set, pod.Spec.Volumes, id)
	return pod
}

// withClaims adds a volume for each claim; it takes the place of a template volume of that name
// (CS-96).
func withClaims(set *appsv1beta1.CloneSet, volumes []corev1.Volume, id string) []corev1.Volume {
	for i := range set.Spec.VolumeClaimTemplates {
		name := set.Spec.VolumeClaimTemplates[i].Name
		volumes = slices.DeleteFunc(volumes, func(v corev1.Volume) bool { return v.Name == name })
		volumes = append(volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claimName(name, set, id)},
		}})
	}
	return volumes
}

// revisionLabels are the labels by which a pod says its revision (RV-12). short writes the hash alone
// where older clients expect the full name.
func revisionLabels(name string, short bool) map[string]string {
	labels := map[string]string{wire.LabelRevision: name, wire.LabelPodTemplateHash: revision.ShortHash(name)}
	if short {
		labels[wire.LabelRevision] = revision.ShortHash(name)
	}
	return labels
}
