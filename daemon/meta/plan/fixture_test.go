package plan_test

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// aPod is a pod of a CloneSet with a container main, which has ID containerd://m1 and reads label l, and
// a container side, which has ID containerd://s1 and reads nothing.
func aPod(changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "web-0", UID: "uid",
			Labels: map[string]string{"l": "1"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web", UID: "set", Controller: new(true),
			}},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "main", Image: "i:1", Env: []corev1.EnvVar{fromField("L", "metadata.labels['l']")}},
			{Name: "side", Image: "s:1"},
		}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			{Name: "main", ContainerID: "containerd://m1"},
			{Name: "side", ContainerID: "containerd://s1"},
		}},
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func fromField(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

// reported sets the annotation as it stands on the pod.
func reported(value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{wire.AnnotationRuntimeContainersMeta: value}
	}
}

func updating(status corev1.ConditionStatus) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: wire.InPlaceUpdateReady, Status: status})
	}
}

// oneHash is that of [{"name":"L","value":"1"}].
const oneHash = 3702850206

// upToDate is what stands on aPod once everything was reported.
const upToDate = `{"containers":[` +
	`{"name":"main","containerID":"containerd://m1","restartCount":0,"hashes":{"plainHash":11,"extractedEnvFromMetadataHash":3702850206}},` +
	`{"name":"side","containerID":"containerd://s1","restartCount":2,"hashes":{"plainHash":12,"extractedEnvFromMetadataHash":86995377}}]}`
