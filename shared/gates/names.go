package gates

import "k8s.io/component-base/featuregate"

// Gate is the name of one feature gate.
type Gate = featuregate.Feature

// Gates that some component reads. What on and off mean is said in DEP-135 to DEP-170.
const (
	// PodWebhook off removes every hook on pods: no readiness gate, injection or budget (DEP-135).
	PodWebhook Gate = "PodWebhook"
	// KruiseDaemon off says that no node daemon is installed (DEP-136).
	KruiseDaemon Gate = "KruiseDaemon"
	// DaemonWatchingPod off keeps the daemon from watching pods: no container metadata (DEP-137).
	DaemonWatchingPod Gate = "DaemonWatchingPod"
	// CloneSetShortHash shortens the revision label of CloneSet pods to the bare hash (DEP-138).
	CloneSetShortHash Gate = "CloneSetShortHash"
	// KruisePodReadinessGate injects the readiness gate into every pod, not only ours (DEP-139).
	KruisePodReadinessGate Gate = "KruisePodReadinessGate"
	// PreDownloadImageForInPlaceUpdate pulls images ahead of an in-place update (DEP-140).
	PreDownloadImageForInPlaceUpdate Gate = "PreDownloadImageForInPlaceUpdate"
	// CloneSetPartitionRollback moves pods back when partition is raised (DEP-142).
	CloneSetPartitionRollback Gate = "CloneSetPartitionRollback"
	// CloneSetEventHandlerOptimization ignores pod updates that cannot matter to a CloneSet (DEP-143).
	CloneSetEventHandlerOptimization Gate = "CloneSetEventHandlerOptimization"
	// PreparingUpdateAsUpdate counts pods in PreparingUpdate as updated while scaling (DEP-144).
	PreparingUpdateAsUpdate Gate = "PreparingUpdateAsUpdate"
	// RecreatePodWhenChangeVCTInCloneSetGate recreates pods whose claim templates changed (DEP-145).
	RecreatePodWhenChangeVCTInCloneSetGate Gate = "RecreatePodWhenChangeVCTInCloneSetGate"
	// InPlaceUpdateEnvFromMetadata updates pods in place for metadata used in env (DEP-152).
	InPlaceUpdateEnvFromMetadata Gate = "InPlaceUpdateEnvFromMetadata"
	// InPlaceWorkloadVerticalScaling applies changed resources in place (DEP-153).
	InPlaceWorkloadVerticalScaling Gate = "InPlaceWorkloadVerticalScaling"
	// PodUnavailableBudgetUpdateGate protects in-place updates by budgets (DEP-158).
	PodUnavailableBudgetUpdateGate Gate = "PodUnavailableBudgetUpdateGate"
	// ImagePullJobGate allows image pull jobs (DEP-165).
	ImagePullJobGate Gate = "ImagePullJobGate"
	// ResourcesDeletionProtection makes the deletion protection hooks act (DEP-166).
	ResourcesDeletionProtection Gate = "ResourcesDeletionProtection"
	// TemplateNoDefaults keeps pod and claim template defaults out of stored objects (DEP-168).
	TemplateNoDefaults Gate = "TemplateNoDefaults"
	// DefaultHostNetworkHostPortsInPodTemplates defaults host ports in templates (DEP-169).
	DefaultHostNetworkHostPortsInPodTemplates Gate = "DefaultHostNetworkHostPortsInPodTemplates"
	// EnableExternalCerts says that webhook certificates come from outside (DEP-170).
	EnableExternalCerts Gate = "EnableExternalCerts"
)

// Gates of the reference that no component reads yet. They are accepted and reported; the family that
// comes to read one exports its name.
const (
	preDownloadImageForDaemonSetUpdate        Gate = "PreDownloadImageForDaemonSetUpdate"
	forceDeleteTimeoutExpectationGate         Gate = "ForceDeleteTimeoutExpectationGate"
	statefulSetAutoDeletePVC                  Gate = "StatefulSetAutoDeletePVC"
	statefulSetStartOrdinal                   Gate = "StatefulSetStartOrdinal"
	podIndexLabel                             Gate = "PodIndexLabel"
	statefulSetAutoResizePVCGate              Gate = "StatefulSetAutoResizePVCGate"
	daemonSetPruneIneligibleNodes             Gate = "DaemonSetPruneIneligibleNodes"
	inPlacePodVerticalScaling                 Gate = "InPlacePodVerticalScaling"
	workloadSpread                            Gate = "WorkloadSpread"
	resourceDistributionGate                  Gate = "ResourceDistributionGate"
	podUnavailableBudgetDeleteGate            Gate = "PodUnavailableBudgetDeleteGate"
	podProbeMarkerGate                        Gate = "PodProbeMarkerGate"
	enablePodProbeMarkerOnServerless          Gate = "EnablePodProbeMarkerOnServerless"
	enhancedLivenessProbe                     Gate = "EnhancedLivenessProbe"
	sidecarTerminator                         Gate = "SidecarTerminator"
	sidecarSetPatchPodMetadataDefaultsAllowed Gate = "SidecarSetPatchPodMetadataDefaultsAllowed"
	enableSortSidecarContainerByName          Gate = "EnableSortSidecarContainerByName"
	deletionProtectionForCRDCascadingGate     Gate = "DeletionProtectionForCRDCascadingGate"
	configMapSetGate                          Gate = "ConfigMapSetGate"
)
