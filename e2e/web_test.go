package e2e_test

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
)

// Images that the cluster has. The same program has another image ID under every tag, except that samePause is
// pauseV1 under another name.
const (
	webV1     = "flotilla/test-server:v1"
	webV2     = "flotilla/test-server:v2"
	webV3     = "flotilla/test-server:v3"
	webBroken = "flotilla/test-server:broken"
	pauseV1   = "flotilla/test-pause:v1"
	samePause = "registry.k8s.io/pause:3.10.1"
)

// web returns a CloneSet of a web server that is updated in place, one pod at a time, and that stops at once.
// Its pods have the label app with the name of the set.
func web(name string, replicas int32, modifiers ...func(*v1beta1.CloneSet)) *v1beta1.CloneSet {
	set := &v1beta1.CloneSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1beta1.CloneSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			UpdateStrategy: v1beta1.CloneSetUpdateStrategy{RollingUpdate: &v1beta1.RollingUpdateCloneSetStrategy{
				PodUpdatePolicy: v1beta1.InPlaceIfPossiblePodUpdateStrategyType,
				MaxUnavailable:  new(intstr.FromInt32(1)),
			}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}},
				Spec: corev1.PodSpec{
					TerminationGracePeriodSeconds: new(int64(5)),
					Containers: []corev1.Container{{
						Name: "web", Image: webV1, ImagePullPolicy: corev1.PullIfNotPresent,
						Env: []corev1.EnvVar{{Name: "DRAIN", Value: "0s"}},
						ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{
							HTTPGet: &corev1.HTTPGetAction{Path: "/readyz", Port: intstr.FromInt32(8080)},
						}},
					}},
				},
			},
		},
	}
	for _, modify := range modifiers {
		modify(set)
	}
	return set
}

// rolling changes how a CloneSet is updated.
func rolling(change func(*v1beta1.RollingUpdateCloneSetStrategy)) func(*v1beta1.CloneSet) {
	return func(set *v1beta1.CloneSet) { change(set.Spec.UpdateStrategy.RollingUpdate) }
}

// atATime lets several pods be unavailable.
func atATime(n int32) func(*v1beta1.CloneSet) {
	return rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) { r.MaxUnavailable = new(intstr.FromInt32(n)) })
}

// partition keeps a number of pods, or a percentage, at their revision.
func partition(text string) func(*v1beta1.CloneSet) {
	return rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) { r.Partition = new(intstr.Parse(text)) })
}

// grace sets the time between out of service and swap.
func grace(seconds int32) func(*v1beta1.CloneSet) {
	return rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) {
		r.InPlaceUpdateStrategy = &v1beta1.InPlaceUpdateStrategy{GracePeriodSeconds: seconds}
	})
}
