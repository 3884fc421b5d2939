package gates

import "k8s.io/component-base/featuregate"

// spec is one row of the table of gates.
type spec struct {
	featuregate.FeatureSpec
	// unread marks a gate that no component reads yet.
	unread bool
	// onlyByName keeps a gate out of AllAlpha and AllBeta, since it changes where certificates come from
	// or what is stored, and does harm unless its user prepared for it (DKP-12, DKP-13).
	onlyByName bool
}

// table returns every gate of DEP-135 to DEP-170 and DEP-261.
func table() map[Gate]spec {
	alpha := featuregate.FeatureSpec{PreRelease: featuregate.Alpha}
	betaOn := featuregate.FeatureSpec{PreRelease: featuregate.Beta, Default: true}
	betaOff := featuregate.FeatureSpec{PreRelease: featuregate.Beta}
	return map[Gate]spec{
		PodWebhook:                                {FeatureSpec: betaOn},
		KruiseDaemon:                              {FeatureSpec: betaOn},
		DaemonWatchingPod:                         {FeatureSpec: betaOn},
		CloneSetShortHash:                         {FeatureSpec: alpha},
		KruisePodReadinessGate:                    {FeatureSpec: alpha},
		PreDownloadImageForInPlaceUpdate:          {FeatureSpec: alpha},
		CloneSetPartitionRollback:                 {FeatureSpec: alpha},
		CloneSetEventHandlerOptimization:          {FeatureSpec: alpha},
		PreparingUpdateAsUpdate:                   {FeatureSpec: alpha},
		RecreatePodWhenChangeVCTInCloneSetGate:    {FeatureSpec: alpha},
		InPlaceUpdateEnvFromMetadata:              {FeatureSpec: betaOn},
		InPlaceWorkloadVerticalScaling:            {FeatureSpec: alpha},
		PodUnavailableBudgetUpdateGate:            {FeatureSpec: alpha},
		ImagePullJobGate:                          {FeatureSpec: alpha},
		ResourcesDeletionProtection:               {FeatureSpec: betaOff},
		TemplateNoDefaults:                        {FeatureSpec: alpha, onlyByName: true},
		DefaultHostNetworkHostPortsInPodTemplates: {FeatureSpec: alpha, onlyByName: true},
		EnableExternalCerts:                       {FeatureSpec: alpha, onlyByName: true},

		preDownloadImageForDaemonSetUpdate:        {FeatureSpec: alpha, unread: true},
		forceDeleteTimeoutExpectationGate:         {FeatureSpec: alpha, unread: true},
		statefulSetAutoDeletePVC:                  {FeatureSpec: betaOn, unread: true},
		statefulSetStartOrdinal:                   {FeatureSpec: alpha, unread: true},
		podIndexLabel:                             {FeatureSpec: betaOn, unread: true},
		statefulSetAutoResizePVCGate:              {FeatureSpec: alpha, unread: true},
		daemonSetPruneIneligibleNodes:             {FeatureSpec: alpha, unread: true},
		inPlacePodVerticalScaling:                 {FeatureSpec: alpha, unread: true},
		workloadSpread:                            {FeatureSpec: betaOn, unread: true},
		resourceDistributionGate:                  {FeatureSpec: betaOff, unread: true},
		podUnavailableBudgetDeleteGate:            {FeatureSpec: betaOn, unread: true},
		podProbeMarkerGate:                        {FeatureSpec: betaOn, unread: true},
		enablePodProbeMarkerOnServerless:          {FeatureSpec: alpha, unread: true},
		enhancedLivenessProbe:                     {FeatureSpec: alpha, unread: true},
		sidecarTerminator:                         {FeatureSpec: alpha, unread: true},
		sidecarSetPatchPodMetadataDefaultsAllowed: {FeatureSpec: alpha, unread: true},
		enableSortSidecarContainerByName:          {FeatureSpec: alpha, unread: true},
		deletionProtectionForCRDCascadingGate:     {FeatureSpec: alpha, unread: true},
		configMapSetGate:                          {FeatureSpec: alpha, unread: true},
	}
}
