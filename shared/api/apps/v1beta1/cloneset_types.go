package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// CloneSet manages interchangeable pods directly, without ReplicaSets in between: it updates them in
// place where it can, rolls out in partitions, deletes chosen pods first, and gives each pod claims
// of its own.
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=clonesets,singular=cloneset,scope=Namespaced,shortName=clone
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.labelSelector
// +kubebuilder:printcolumn:name="DESIRED",type="integer",JSONPath=".spec.replicas",description="The desired number of pods."
// +kubebuilder:printcolumn:name="UPDATED",type="integer",JSONPath=".status.updatedReplicas",description="The number of pods of the update revision."
// +kubebuilder:printcolumn:name="UPDATED_READY",type="integer",JSONPath=".status.updatedReadyReplicas",description="The number of pods of the update revision that are ready."
// +kubebuilder:printcolumn:name="UPDATED_AVAILABLE",type="integer",JSONPath=".status.updatedAvailableReplicas",description="The number of pods of the update revision that are available."
// +kubebuilder:printcolumn:name="READY",type="integer",JSONPath=".status.readyReplicas",description="The number of pods that are ready."
// +kubebuilder:printcolumn:name="TOTAL",type="integer",JSONPath=".status.replicas",description="The number of pods that exist."
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp",description="The time since the CloneSet was created."
// +kubebuilder:printcolumn:name="CONTAINERS",type="string",priority=1,JSONPath=".spec.template.spec.containers[*].name",description="The names of the containers of the template."
// +kubebuilder:printcolumn:name="IMAGES",type="string",priority=1,JSONPath=".spec.template.spec.containers[*].image",description="The images of the containers of the template."
// +kubebuilder:printcolumn:name="SELECTOR",type="string",priority=1,JSONPath=".status.labelSelector",description="The label selector of the pods."
type CloneSet struct {
	metav1.TypeMeta `json:",inline"`
	// Metadata is the usual metadata of an object. The controller copies the annotations to the
	// revisions that it makes.
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user wants.
	Spec CloneSetSpec `json:"spec,omitempty"`
	// Status is what the controller has seen.
	Status CloneSetStatus `json:"status,omitempty"`
}

// CloneSetList is a list of CloneSets.
// +kubebuilder:object:root=true
type CloneSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the CloneSets.
	Items []CloneSet `json:"items"`
}

// CloneSetSpec is what the user wants of a CloneSet.
type CloneSetSpec struct {
	// Replicas is the desired number of pods, 0 or more. Default 1, filled in at admission.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"`
	// Selector selects the pods of the CloneSet by label. It must match the labels of the template,
	// must not be empty, and cannot be changed after creation.
	// +kubebuilder:validation:XValidation:rule="(has(self.matchLabels) && self.matchLabels.size() > 0) || (has(self.matchExpressions) && self.matchExpressions.size() > 0)",message="spec.selector must not be empty"
	// +kubebuilder:validation:XValidation:rule="(has(self.matchLabels) ? self.matchLabels : {}) == (has(oldSelf.matchLabels) ? oldSelf.matchLabels : {}) && (has(self.matchExpressions) ? self.matchExpressions : []) == (has(oldSelf.matchExpressions) ? oldSelf.matchExpressions : [])",message="spec.selector cannot be changed"
	Selector *metav1.LabelSelector `json:"selector"`
	// Template is the pod that is made for each replica. Its restartPolicy must be Always or empty,
	// and activeDeadlineSeconds is not allowed. Changing the template, and nothing else, makes a new
	// revision and starts a roll-out. Fields that the server does not know are kept.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Template corev1.PodTemplateSpec `json:"template"`
	// VolumeClaimTemplates are claims that every pod gets for itself, mounted under the name of the
	// claim. A change affects pods created later; existing pods keep their claims, and no revision is
	// made. Fields that the server does not know are kept.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	VolumeClaimTemplates []corev1.PersistentVolumeClaim `json:"volumeClaimTemplates,omitempty"`
	// ScaleStrategy says how the number of pods is changed.
	// +optional
	ScaleStrategy CloneSetScaleStrategy `json:"scaleStrategy"`
	// UpdateStrategy says how pods are brought to a new revision.
	// +optional
	UpdateStrategy CloneSetUpdateStrategy `json:"updateStrategy"`
	// RevisionHistoryLimit is how many revisions that no pod uses are kept, so that one can go back to
	// them. Default 10, filled in at admission.
	// +optional
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`
	// MinReadySeconds is how long, in seconds, a pod must have been ready to count as available.
	// Default 0: as soon as it is ready. A change is applied to all pods at once.
	// +optional
	MinReadySeconds int32 `json:"minReadySeconds,omitempty"`
	// Lifecycle holds the points at which the controller waits for somebody else before it goes on
	// with a pod. Removing a hook releases the pods that wait at it.
	// +optional
	Lifecycle *Lifecycle `json:"lifecycle,omitempty"`
	// ProgressDeadlineSeconds is how long, in seconds, a roll-out may go without progress before
	// condition Progressing turns False. It must be greater than minReadySeconds. Unset and 2147483647
	// mean that progress is not reported. The roll-out itself goes on in any case.
	// +optional
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty"`
}

// CloneSetScaleStrategy says how the number of pods is changed.
type CloneSetScaleStrategy struct {
	// PodsToDelete names pods that are deleted first when the CloneSet scales in; if it does not, they
	// are replaced. Names must not occur twice. The controller removes names of pods that are gone.
	// +optional
	PodsToDelete []string `json:"podsToDelete,omitempty"`
	// MaxUnavailable limits how many pods may be unavailable while pods are created: a number, or a
	// percentage of replicas rounded up. No more pods are created while that many are unavailable.
	// Unlimited when absent. Deletion is not limited by it.
	// +optional
	// +kubebuilder:validation:XIntOrString
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// EnablePVCReuse keeps the claims of a pod that somebody else deleted for the pod that is created
	// in its place. Claims of pods that the controller deletes go with their pod in any case. Default
	// false: no claim is kept. Note that v1alpha1 has the opposite default.
	// +optional
	// +kubebuilder:default=false
	EnablePVCReuse bool `json:"enablePVCReuse,omitempty"`
	// ExcludePreparingDelete leaves pods that wait at the preDelete hook out of the number of
	// replicas, so that others are created for them right away. Default false: they count until they
	// are gone, and a scale-out takes them back.
	// +optional
	ExcludePreparingDelete bool `json:"excludePreparingDelete,omitempty"`
}

// CloneSetUpdateStrategyType says when pods are brought to a new revision. The empty value means
// RollingUpdate and is filled in at admission.
// +kubebuilder:validation:Enum="";RollingUpdate;OnDelete
type CloneSetUpdateStrategyType string

const (
	// RollingUpdateCloneSetUpdateStrategyType updates pods on its own, within the limits given.
	RollingUpdateCloneSetUpdateStrategyType CloneSetUpdateStrategyType = "RollingUpdate"
	// OnDeleteCloneSetUpdateStrategyType leaves existing pods alone; a pod that somebody deletes is
	// replaced by one of the new revision.
	OnDeleteCloneSetUpdateStrategyType CloneSetUpdateStrategyType = "OnDelete"
)

// CloneSetUpdateStrategy says how pods are brought to a new revision.
type CloneSetUpdateStrategy struct {
	// Type is RollingUpdate, the default, or OnDelete.
	// +optional
	Type CloneSetUpdateStrategyType `json:"type,omitempty"`
	// RollingUpdate holds the settings of type RollingUpdate. With OnDelete only maxUnavailable is
	// used, for pods that are named for deletion.
	// +optional
	RollingUpdate *RollingUpdateCloneSetStrategy `json:"rollingUpdate,omitempty"`
}

// RollingUpdateCloneSetStrategy holds the settings of a rolling update. All of them take effect at
// once, also in the middle of a roll-out.
// +kubebuilder:validation:XValidation:rule="!(has(self.podUpdatePolicy) && self.podUpdatePolicy == 'InPlaceOnly' && has(self.maxSurge) && type(self.maxSurge) == int && int(self.maxSurge) > 0)",message="maxSurge must be 0 when podUpdatePolicy is InPlaceOnly"
type RollingUpdateCloneSetStrategy struct {
	// Partition is how many pods stay at their old revision: a number, or a percentage of replicas
	// rounded up; a percentage below 100% leaves at least one pod to update. Default 0: all pods are
	// updated.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? int(self) >= 0 : string(self).endsWith('%')",message="partition must be a number of 0 or more, or a percentage"
	Partition *intstr.IntOrString `json:"partition,omitempty"`
	// MaxUnavailable is how many pods may be unavailable during the update: a number, or a percentage
	// of replicas, rounded down when maxSurge is above 0 and up otherwise. Default 20%. It must not be
	// 0 together with maxSurge.
	// +optional
	// +kubebuilder:validation:XIntOrString
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// MaxSurge is how many pods may exist beyond replicas during an update by recreation: a number, or
	// a percentage of replicas rounded up. Default 0. Not allowed with podUpdatePolicy InPlaceOnly.
	// +optional
	// +kubebuilder:validation:XIntOrString
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`
	// PodUpdatePolicy says how one pod is updated: ReCreate, the default, InPlaceIfPossible or
	// InPlaceOnly. A change applies to pods not yet updated.
	// +optional
	PodUpdatePolicy PodUpdateStrategyType `json:"podUpdatePolicy,omitempty"`
	// Paused stops the update; scaling goes on. Default false.
	// +optional
	Paused bool `json:"paused,omitempty"`
	// PriorityStrategy says which pods are updated before others.
	// +optional
	PriorityStrategy *UpdatePriorityStrategy `json:"priorityStrategy,omitempty"`
	// ScatterStrategy spreads pods with given labels evenly over the course of the update. It applies
	// after priorityStrategy.
	// +optional
	ScatterStrategy UpdateScatterStrategy `json:"scatterStrategy,omitempty"`
	// InPlaceUpdateStrategy tunes updates in place.
	// +optional
	InPlaceUpdateStrategy *InPlaceUpdateStrategy `json:"inPlaceUpdateStrategy,omitempty"`
}

// CloneSetStatus is what the controller has seen. Pods that have succeeded or failed or are being
// deleted are in none of the numbers.
type CloneSetStatus struct {
	// ObservedGeneration is the generation of the spec on which this status is based.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Replicas is the number of pods.
	Replicas int32 `json:"replicas"`
	// ReadyReplicas is the number of pods that run and are ready, not counting those in the middle of
	// an in-place update.
	ReadyReplicas int32 `json:"readyReplicas"`
	// AvailableReplicas is the number of pods that have been ready for minReadySeconds and wait at no
	// lifecycle hook.
	AvailableReplicas int32 `json:"availableReplicas"`
	// UpdatedReplicas is the number of pods of the update revision.
	UpdatedReplicas int32 `json:"updatedReplicas"`
	// UpdatedReadyReplicas is the number of pods of the update revision that are ready.
	UpdatedReadyReplicas int32 `json:"updatedReadyReplicas"`
	// UpdatedAvailableReplicas is the number of pods of the update revision that are available.
	// +optional
	UpdatedAvailableReplicas int32 `json:"updatedAvailableReplicas,omitempty"`
	// ExpectedUpdatedReplicas is how many pods are to be at the update revision: replicas less the
	// partition. It is 0 if the partition cannot be computed.
	// +optional
	ExpectedUpdatedReplicas int32 `json:"expectedUpdatedReplicas,omitempty"`
	// UpdateRevision is the name of the ControllerRevision of the present template.
	// +optional
	UpdateRevision string `json:"updateRevision,omitempty"`
	// CurrentRevision is the name of the ControllerRevision that all pods had when the last roll-out
	// was complete.
	// +optional
	CurrentRevision string `json:"currentRevision,omitempty"`
	// CollisionCount is how often the name of a new revision was already taken; it is mixed into the
	// next name.
	// +optional
	CollisionCount *int32 `json:"collisionCount,omitempty"`
	// Conditions are facts about the CloneSet; each type occurs once.
	// +optional
	Conditions []CloneSetCondition `json:"conditions,omitempty"`
	// LabelSelector is spec.selector in text form, for autoscalers that read the scale subresource.
	// +optional
	LabelSelector string `json:"labelSelector,omitempty"`
}

// CloneSetConditionType names a condition of a CloneSet.
type CloneSetConditionType string

const (
	// CloneSetConditionFailedScale is True while creating or deleting pods fails.
	CloneSetConditionFailedScale CloneSetConditionType = "FailedScale"
	// CloneSetConditionFailedUpdate is True while updating pods fails.
	CloneSetConditionFailedUpdate CloneSetConditionType = "FailedUpdate"
	// CloneSetConditionTypeProgressing tells how a roll-out goes; it is present only while
	// progressDeadlineSeconds is set.
	CloneSetConditionTypeProgressing CloneSetConditionType = "Progressing"
)

// CloneSetConditionReason is the reason of condition Progressing.
type CloneSetConditionReason string

const (
	// CloneSetAvailable says that all replicas are updated and available.
	CloneSetAvailable CloneSetConditionReason = "CloneSetAvailable"
	// CloneSetProgressPaused says that spec.updateStrategy.rollingUpdate.paused is true.
	CloneSetProgressPaused CloneSetConditionReason = "CloneSetPaused"
	// CloneSetProgressPartitionAvailable says that all pods outside the partition are updated and
	// available.
	CloneSetProgressPartitionAvailable CloneSetConditionReason = "ProgressPartitionAvailable"
	// CloneSetProgressDeadlineExceeded says that the roll-out made no progress for too long.
	CloneSetProgressDeadlineExceeded CloneSetConditionReason = "ProgressDeadlineExceeded"
	// CloneSetProgressUpdated says that the roll-out is going on.
	CloneSetProgressUpdated CloneSetConditionReason = "CloneSetUpdated"
)

// CloneSetCondition is one fact about a CloneSet.
type CloneSetCondition struct {
	// Type names the condition.
	Type CloneSetConditionType `json:"type"`
	// Status is True, False or Unknown.
	Status corev1.ConditionStatus `json:"status"`
	// LastUpdateTime is when status or reason changed last.
	// +optional
	LastUpdateTime metav1.Time `json:"lastUpdateTime,omitzero"`
	// LastTransitionTime is when the status changed last.
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitzero"`
	// Reason is one word for programs.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message is text for people.
	// +optional
	Message string `json:"message,omitempty"`
}
