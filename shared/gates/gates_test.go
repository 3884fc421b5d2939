package gates_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/spf13/pflag"

	"github.com/flotilla-k8s/flotilla/shared/gates"
)

func TestParse(t *testing.T) {
	cases := []struct {
		name string
		flag string
		want map[gates.Gate]bool
	}{
		{
			name: "DEP-135, DEP-138, DEP-166: an empty string leaves the defaults",
			want: map[gates.Gate]bool{
				gates.PodWebhook: true, gates.KruiseDaemon: true, gates.InPlaceUpdateEnvFromMetadata: true,
				gates.CloneSetShortHash: false, gates.ResourcesDeletionProtection: false, gates.ImagePullJobGate: false,
			},
		},
		{
			name: "DEP-133: single gates are set by name, spaces do not matter",
			flag: "CloneSetShortHash=true, DaemonWatchingPod = false",
			want: map[gates.Gate]bool{gates.CloneSetShortHash: true, gates.DaemonWatchingPod: false},
		},
		{
			name: "DEP-133: AllAlpha sets every alpha gate that is not named itself",
			flag: "AllAlpha=true,CloneSetShortHash=false",
			want: map[gates.Gate]bool{
				gates.PreparingUpdateAsUpdate: true, gates.CloneSetShortHash: false, gates.ResourcesDeletionProtection: false,
			},
		},
		{
			name: "DEP-133: AllBeta sets every beta gate, also off",
			flag: "AllBeta=false",
			want: map[gates.Gate]bool{gates.PodWebhook: false, gates.KruiseDaemon: false},
		},
		{
			name: "DEP-133: AllBeta switches on a beta gate that is off by default",
			flag: "AllBeta=true",
			want: map[gates.Gate]bool{gates.ResourcesDeletionProtection: true},
		},
		{
			name: "DKP-12: AllAlpha leaves certificates and defaulting alone",
			flag: "AllAlpha=true,AllBeta=true",
			want: map[gates.Gate]bool{
				gates.EnableExternalCerts: false, gates.TemplateNoDefaults: false,
				gates.DefaultHostNetworkHostPortsInPodTemplates: false,
			},
		},
		{
			name: "DKP-12: they are set by name",
			flag: "AllAlpha=true,EnableExternalCerts=true",
			want: map[gates.Gate]bool{gates.EnableExternalCerts: true, gates.TemplateNoDefaults: false},
		},
		{
			name: "DEP-171: without pod hooks nothing that lives in them is on",
			flag: "PodWebhook=false,KruisePodReadinessGate=true,PodUnavailableBudgetUpdateGate=true,ResourcesDeletionProtection=true",
			want: map[gates.Gate]bool{
				gates.KruisePodReadinessGate: false, gates.PodUnavailableBudgetUpdateGate: false, "WorkloadSpread": false,
				"PodUnavailableBudgetDeleteGate": false, gates.ResourcesDeletionProtection: true,
			},
		},
		{
			name: "DEP-172: without the daemon nothing that needs it is on",
			flag: "KruiseDaemon=false,PreDownloadImageForInPlaceUpdate=true,ImagePullJobGate=true",
			want: map[gates.Gate]bool{
				gates.PreDownloadImageForInPlaceUpdate: false, gates.DaemonWatchingPod: false,
				gates.InPlaceUpdateEnvFromMetadata: false, "PodProbeMarkerGate": false, gates.ImagePullJobGate: false,
			},
		},
		{
			name: "DEP-173: pre-download needs pull jobs",
			flag: "PreDownloadImageForInPlaceUpdate=true,ImagePullJobGate=false",
			want: map[gates.Gate]bool{gates.ImagePullJobGate: true},
		},
		{
			name: "DEP-173: pre-download of daemon sets needs them too",
			flag: "PreDownloadImageForDaemonSetUpdate=true",
			want: map[gates.Gate]bool{gates.ImagePullJobGate: true},
		},
		{
			name: "DEP-173: CRD cascading protection needs deletion protection",
			flag: "DeletionProtectionForCRDCascadingGate=true",
			want: map[gates.Gate]bool{"DeletionProtectionForCRDCascadingGate": false},
		},
		{
			name: "DEP-173: with deletion protection it stays on",
			flag: "DeletionProtectionForCRDCascadingGate=true,ResourcesDeletionProtection=true",
			want: map[gates.Gate]bool{"DeletionProtectionForCRDCascadingGate": true},
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			set, err := gates.Parse(tc.flag)
			if err != nil {
				t.Fatal(err)
			}
			for gate, want := range tc.want {
				if got := set.Enabled(gate); got != want {
					t.Errorf("gate %s is %t, want %t", gate, got, want)
				}
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	cases := map[string]string{
		"DEP-133: an unknown name":       "NoSuchGate=true",
		"DEP-161: a misspelt documented": "EnhancedLivenessProbeGate=true",
		"DEP-133: a missing value":       "PodWebhook",
		"DEP-133: a value not a boolean": "PodWebhook=maybe",
	}
	for name, flag := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := gates.Parse(flag); err == nil {
				t.Errorf("parsing %q gave no error", flag)
			}
		})
	}
}

// referenceGates are the names of DEP-135 to DEP-170 that a user of the reference may have in a string.
const referenceGates = "PodWebhook,KruiseDaemon,DaemonWatchingPod,CloneSetShortHash,KruisePodReadinessGate," +
	"PreDownloadImageForInPlaceUpdate,PreDownloadImageForDaemonSetUpdate,CloneSetPartitionRollback," +
	"CloneSetEventHandlerOptimization,PreparingUpdateAsUpdate,RecreatePodWhenChangeVCTInCloneSetGate," +
	"ForceDeleteTimeoutExpectationGate,StatefulSetAutoDeletePVC,StatefulSetStartOrdinal,PodIndexLabel," +
	"StatefulSetAutoResizePVCGate,DaemonSetPruneIneligibleNodes,InPlaceUpdateEnvFromMetadata," +
	"InPlaceWorkloadVerticalScaling,InPlacePodVerticalScaling,WorkloadSpread,ResourceDistributionGate," +
	"PodUnavailableBudgetDeleteGate,PodUnavailableBudgetUpdateGate,PodProbeMarkerGate," +
	"EnablePodProbeMarkerOnServerless,EnhancedLivenessProbe,SidecarTerminator," +
	"SidecarSetPatchPodMetadataDefaultsAllowed,EnableSortSidecarContainerByName,ImagePullJobGate," +
	"ResourcesDeletionProtection,DeletionProtectionForCRDCascadingGate,TemplateNoDefaults," +
	"DefaultHostNetworkHostPortsInPodTemplates,EnableExternalCerts,ConfigMapSetGate"

func TestEveryNameOfTheReferenceIsAccepted(t *testing.T) {
	for name := range strings.SplitSeq(referenceGates, ",") {
		if _, err := gates.Parse(name + "=true"); err != nil {
			t.Errorf("DEP-134: %v", err)
		}
	}
}

func TestUnread(t *testing.T) {
	set, err := gates.Parse("AllAlpha=true,StatefulSetStartOrdinal=true,CloneSetShortHash=true,PodIndexLabel=true")
	if err != nil {
		t.Fatal(err)
	}
	want := []gates.Gate{"PodIndexLabel", "StatefulSetStartOrdinal"}
	if diff := cmp.Diff(want, set.Unread()); diff != "" {
		t.Errorf("only gates named by the user and read by nobody are reported (-want +got):\n%s", diff)
	}
}

func TestForced(t *testing.T) {
	set, err := gates.Parse("KruiseDaemon=false,DaemonWatchingPod=false,PreDownloadImageForInPlaceUpdate=true")
	if err != nil {
		t.Fatal(err)
	}
	want := []gates.Forced{
		{Gate: gates.PreDownloadImageForInPlaceUpdate, On: false, Because: gates.KruiseDaemon},
		{Gate: gates.InPlaceUpdateEnvFromMetadata, On: false, Because: gates.KruiseDaemon},
		{Gate: "PodProbeMarkerGate", On: false, Because: gates.KruiseDaemon},
	}
	if diff := cmp.Diff(want, set.Forced()); diff != "" {
		t.Errorf("DEP-174: forced gates are those whose value changed (-want +got):\n%s", diff)
	}
}

func TestFlag(t *testing.T) {
	flag := gates.NewFlag()
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flag.Bind(fs)
	if err := fs.Parse([]string{"--feature-gates=CloneSetShortHash=true"}); err != nil {
		t.Fatal(err)
	}
	if !flag.Set().Enabled(gates.CloneSetShortHash) {
		t.Error("DEP-98: --feature-gates was not read")
	}
}

func TestZeroSet(t *testing.T) {
	var set gates.Set
	for name := range strings.SplitSeq(referenceGates, ",") {
		if got, want := set.Enabled(gates.Gate(name)), gates.Default().Enabled(gates.Gate(name)); got != want {
			t.Errorf("gate %s of the zero set is %t, want its default %t", name, got, want)
		}
	}
	changed := set.With(gates.CloneSetShortHash, true)
	if !changed.Enabled(gates.CloneSetShortHash) || set.Enabled(gates.CloneSetShortHash) {
		t.Error("With must change the copy and nothing else")
	}
	if !changed.AllEnabled(gates.PodWebhook, gates.CloneSetShortHash) || set.AllEnabled(gates.PodWebhook, gates.CloneSetShortHash) {
		t.Error("AllEnabled must be the conjunction")
	}
}

func TestCollector(t *testing.T) {
	set, err := gates.Parse("PodWebhook=false")
	if err != nil {
		t.Fatal(err)
	}
	collector := set.Collector()
	if got, want := testutil.CollectAndCount(collector), len(strings.Split(referenceGates, ",")); got != want {
		t.Errorf("DEP-191: %d gates are exposed, want %d", got, want)
	}
	values := gather(t, collector)
	for series, want := range map[string]float64{
		"PodWebhook/BETA": 0, "KruiseDaemon/BETA": 1, "WorkloadSpread/BETA": 0, "CloneSetShortHash/ALPHA": 0,
	} {
		if got := values[series]; got != want {
			t.Errorf("DE-8: %s is %v, want %v", series, got, want)
		}
	}
}
