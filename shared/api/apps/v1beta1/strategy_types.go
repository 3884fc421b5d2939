package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// PodUpdateStrategyType says how one pod gets from its revision to the update revision.
// The empty value means ReCreate.
// +kubebuilder:validation:Enum="";ReCreate;InPlaceIfPossible;InPlaceOnly
type PodUpdateStrategyType string

const (
	// RecreatePodUpdateStrategyType deletes the pod and creates another in its place.
	RecreatePodUpdateStrategyType PodUpdateStrategyType = "ReCreate"
	// InPlaceIfPossiblePodUpdateStrategyType changes the pod in place when the difference between
	// the revisions allows it, and recreates it otherwise.
	InPlaceIfPossiblePodUpdateStrategyType PodUpdateStrategyType = "InPlaceIfPossible"
	// InPlaceOnlyPodUpdateStrategyType changes the pod in place and never recreates it. A difference
	// that cannot be made in place is refused at admission.
	InPlaceOnlyPodUpdateStrategyType PodUpdateStrategyType = "InPlaceOnly"
)

// InPlaceUpdateStrategy tunes updates in place. Absent and empty mean the same.
type InPlaceUpdateStrategy struct {
	// GracePeriodSeconds is the time, in seconds, between making a pod not ready and changing its
	// images, in which load balancers can take the pod out. Default 0: the images are changed as soon
	// as the not-ready condition is seen to be stored.
	// +optional
	GracePeriodSeconds int32 `json:"gracePeriodSeconds,omitempty"`
	// ImagePreDownloadParallelism is how many nodes may pull a new image at the same time before the
	// pods on them are updated: a whole number or a string of one, 0 or more; percentages are refused.
	// Default 1; 0 makes the pull jobs and leaves them paused.
	// +optional
	// +kubebuilder:validation:XIntOrString
	ImagePreDownloadParallelism *intstr.IntOrString `json:"imagePreDownloadParallelism,omitempty"`
	// ImagePreDownloadTimeoutSeconds is the time limit, in seconds, of pulling one image on one node.
	// Default 300.
	// +optional
	ImagePreDownloadTimeoutSeconds *int32 `json:"imagePreDownloadTimeoutSeconds,omitempty"`
	// ImagePreDownloadMinUpdatedReadyPods is how many pods have to be updated and ready before images
	// are pulled ahead. Default 0: pulling starts together with the roll-out.
	// +optional
	ImagePreDownloadMinUpdatedReadyPods *int32 `json:"imagePreDownloadMinUpdatedReadyPods,omitempty"`
}

// UpdatePriorityStrategy says which pods are updated before others. Only one of its two lists may be
// given.
// +kubebuilder:validation:XValidation:rule="!has(self.orderPriority) || self.orderPriority.size() == 0 || !has(self.weightPriority) || self.weightPriority.size() == 0",message="only one of orderPriority and weightPriority may be given in priorityStrategy"
type UpdatePriorityStrategy struct {
	// OrderPriority names label keys. The first key of the list that a pod carries decides about it:
	// earlier keys first, and under the same key the pod with the higher number at the end of the
	// label value first. Pods that carry none of the keys come before all others (SO-6).
	// +optional
	OrderPriority []UpdatePriorityOrderTerm `json:"orderPriority,omitempty"`
	// WeightPriority gives weights to pods by their labels. The weights of all terms that match a pod
	// are added up; pods with a higher sum come first.
	// +optional
	WeightPriority []UpdatePriorityWeightTerm `json:"weightPriority,omitempty"`
}

// UpdatePriorityOrderTerm names one label key.
type UpdatePriorityOrderTerm struct {
	// OrderedKey is the key of a pod label whose value ends in a number; a value without one counts
	// as 0.
	// +kubebuilder:validation:MinLength=1
	OrderedKey string `json:"orderedKey"`
}

// UpdatePriorityWeightTerm gives a weight to the pods that a selector matches.
type UpdatePriorityWeightTerm struct {
	// Weight is added for a pod that matches, 0 to 100.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Weight int32 `json:"weight"`
	// MatchSelector selects pods by label. It must not be empty.
	MatchSelector metav1.LabelSelector `json:"matchSelector"`
}

// UpdateScatterStrategy spreads the pods that match a term evenly over the course of the update, so
// that they are not all updated at once. Terms apply one after another, those with more matching
// pods first. A pair must not occur twice.
type UpdateScatterStrategy []UpdateScatterTerm

// UpdateScatterTerm selects pods by one label.
type UpdateScatterTerm struct {
	// Key is the label key; it must not be empty.
	// +kubebuilder:validation:MinLength=1
	Key string `json:"key"`
	// Value is the label value.
	Value string `json:"value"`
}
