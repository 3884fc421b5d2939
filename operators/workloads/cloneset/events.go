package cloneset

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/flotilla-k8s/flotilla/operators/workloads/cloneset/plan"
	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
)

// component is the source of the events (section 5 of the specification).
const component = "cloneset-controller"

// Event reasons; wire.
const (
	reasonSuccessfulCreate  = "SuccessfulCreate"
	reasonFailedCreate      = "FailedCreate"
	reasonSuccessfulDelete  = "SuccessfulDelete"
	reasonFailedDelete      = "FailedDelete"
	reasonScaleUpLimited    = "ScaleUpLimited"
	reasonUpdatedInPlace    = "SuccessfulUpdatePodInPlace"
	reasonInPlaceFailed     = "FailedUpdatePodInPlace"
	reasonUpdatedByRecreate = "SuccessfulUpdatePodReCreate"
	reasonRecreateFailed    = "FailedUpdatePodReCreate"
)

func (r *Reconciler) eventCreated(set *appsv1beta1.CloneSet, pod *corev1.Pod) {
	r.Recorder.Eventf(set, pod, corev1.EventTypeNormal, reasonSuccessfulCreate, "Create", "created pod %s", pod.Name)
}

// eventCreateFailed names the object and the error only: a pod's env is nobody's business (C-22).
func (r *Reconciler) eventCreateFailed(set *appsv1beta1.CloneSet, what, name string, err error) {
	if namespaceGoes(err) {
		return
	}
	r.Recorder.Eventf(set, nil, corev1.EventTypeWarning, reasonFailedCreate, "Create", "creating %s %s: %v", what, name, err)
}

func (r *Reconciler) eventDeleted(set *appsv1beta1.CloneSet, pod *corev1.Pod) {
	r.Recorder.Eventf(set, pod, corev1.EventTypeNormal, reasonSuccessfulDelete, "Delete", "deleted pod %s", pod.Name)
}

func (r *Reconciler) eventDeleteFailed(set *appsv1beta1.CloneSet, pod *corev1.Pod, err error) {
	r.Recorder.Eventf(set, pod, corev1.EventTypeWarning, reasonFailedDelete, "Delete", "deleting pod %s: %v", pod.Name, err)
}

func (r *Reconciler) eventUpdated(set *appsv1beta1.CloneSet, pod *corev1.Pod, revision string) {
	r.Recorder.Eventf(set, pod, corev1.EventTypeNormal, reasonUpdatedInPlace, "Update", "updating pod %s in place to revision %s", pod.Name, revision)
}

func (r *Reconciler) eventUpdateFailed(set *appsv1beta1.CloneSet, pod *corev1.Pod, err error) {
	r.Recorder.Eventf(set, pod, corev1.EventTypeWarning, reasonInPlaceFailed, "Update", "updating pod %s in place: %v", pod.Name, err)
}

func (r *Reconciler) eventRecreate(set *appsv1beta1.CloneSet, pod *corev1.Pod, why string) {
	r.Recorder.Eventf(set, pod, corev1.EventTypeNormal, reasonUpdatedByRecreate, "Update", "recreating pod %s: %s", pod.Name, why)
}

func (r *Reconciler) eventRecreateFailed(set *appsv1beta1.CloneSet, pod *corev1.Pod, err error) {
	r.Recorder.Eventf(set, pod, corev1.EventTypeWarning, reasonRecreateFailed, "Update", "marking pod %s to be recreated: %v", pod.Name, err)
}

// announceLimit tells that more pods are wanted than may be created now (CS-77).
func (r *Reconciler) announceLimit(set *appsv1beta1.CloneSet, p plan.Plan) {
	if p.ScaleUpLimit != nil {
		r.Recorder.Eventf(set, nil, corev1.EventTypeWarning, reasonScaleUpLimited, "Create",
			"scaleStrategy.maxUnavailable allows %d more pods to be created now", *p.ScaleUpLimit)
	}
}
