package wire

// Labels on pods, claims and revisions.
const (
	// LabelRevision names the revision of a pod: the full ControllerRevision name, or its short
	// hash (RV-12). Identical to apps/v1's controller-revision-hash.
	LabelRevision = "controller-revision-hash"
	// LabelPodTemplateHash always holds the short hash of the revision of a CloneSet pod.
	LabelPodTemplateHash = "pod-template-hash"
	// LabelRevisionHash stands on a ControllerRevision and holds its short hash (RV-4).
	LabelRevisionHash = "controller.kubernetes.io/hash"
	// LabelCloneSetInstanceID ties a CloneSet pod to its claims.
	LabelCloneSetInstanceID = "apps.kruise.io/cloneset-instance-id"
	// LabelSpecifiedDelete asks the owner to delete the pod under its own protection rules. Presence
	// counts, whatever the value.
	LabelSpecifiedDelete = "apps.kruise.io/specified-delete"
	// LabelScalingExcludePreparingDelete on a v1alpha1 CloneSet says what v1beta1 says in
	// spec.scaleStrategy.excludePreparingDelete; only the value "true" counts.
	LabelScalingExcludePreparingDelete = "apps.kruise.io/cloneset-scaling-exclude-preparing-delete"
	// LabelDeleteProtection on a protected object holds Always or Cascading.
	LabelDeleteProtection = "policy.kruise.io/delete-protection"
)

// AnnotationVCTHash on a ControllerRevision holds the hash of the volume claim templates that were
// current when the revision was made (RV-14).
const AnnotationVCTHash = "kruise.io/cloneset-volumeclaimtemplate-hash"

// Annotations by which a v1alpha1 CloneSet, and both versions of StatefulSet and DaemonSet,
// configure image pre-download (PD-5).
const (
	AnnotationImagePreDownloadParallelism         = "apps.kruise.io/image-predownload-parallelism"
	AnnotationImagePreDownloadTimeoutSeconds      = "apps.kruise.io/image-predownload-timeout-seconds"
	AnnotationImagePreDownloadMinUpdatedReadyPods = "apps.kruise.io/image-predownload-min-updated-ready-pods"
)

// Container launch priority (IP-3, IP-51).
const (
	// AnnotationLaunchPriority with value LaunchPriorityOrdered starts containers in list order.
	AnnotationLaunchPriority = "apps.kruise.io/container-launch-priority"
	LaunchPriorityOrdered    = "Ordered"
	// AnnotationLaunchPriorityCompleted is "true" once every priority was released.
	AnnotationLaunchPriorityCompleted = "apps.kruise.io/container-launch-priority-completed"
	// EnvContainerPriority is set by users, an integer literal.
	EnvContainerPriority = "KRUISE_CONTAINER_PRIORITY"
	// EnvContainerBarrier is injected at pod creation and reads key p_<priority> of a ConfigMap.
	EnvContainerBarrier = "KRUISE_CONTAINER_BARRIER"
)
