package gates

import "maps"

// Forced is a gate whose value follows from another gate, against what was stated or its default.
type Forced struct {
	Gate Gate
	On   bool
	// Because names the gate that decided.
	Because Gate
}

// needsPodWebhook lists the gates that mean nothing without hooks on pods (DEP-171).
func needsPodWebhook() []Gate {
	return []Gate{
		KruisePodReadinessGate, podUnavailableBudgetDeleteGate, PodUnavailableBudgetUpdateGate, workloadSpread,
		sidecarSetPatchPodMetadataDefaultsAllowed, enhancedLivenessProbe, enablePodProbeMarkerOnServerless,
	}
}

// needsDaemon lists the gates that mean nothing without the node daemon (DEP-172).
func needsDaemon() []Gate {
	return []Gate{
		PreDownloadImageForInPlaceUpdate, preDownloadImageForDaemonSetUpdate, DaemonWatchingPod,
		InPlaceUpdateEnvFromMetadata, podProbeMarkerGate, sidecarTerminator, ImagePullJobGate, enhancedLivenessProbe,
	}
}

// force returns the changes that DEP-171 to DEP-173 make to the stated values, in the order in which
// they apply. A gate that already has the forced value is not listed. stated is not changed.
func force(stated map[Gate]bool) []Forced {
	values := maps.Clone(stated)
	var changes []Forced
	set := func(gate Gate, on bool, because Gate) {
		if values[gate] != on {
			values[gate] = on
			changes = append(changes, Forced{Gate: gate, On: on, Because: because})
		}
	}
	if !values[PodWebhook] {
		for _, gate := range needsPodWebhook() {
			set(gate, false, PodWebhook)
		}
	}
	if !values[KruiseDaemon] {
		for _, gate := range needsDaemon() {
			set(gate, false, KruiseDaemon)
		}
	}
	// Pre-download works through pull jobs. This comes after DEP-172, which may have switched it off.
	for _, predownload := range []Gate{PreDownloadImageForInPlaceUpdate, preDownloadImageForDaemonSetUpdate} {
		if values[predownload] {
			set(ImagePullJobGate, true, predownload)
		}
	}
	if !values[ResourcesDeletionProtection] {
		set(deletionProtectionForCRDCascadingGate, false, ResourcesDeletionProtection)
	}
	return changes
}
