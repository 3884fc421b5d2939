package registration

import (
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Names of the configuration objects (WH-8).
const (
	MutatingName   = "kruise-mutating-webhook-configuration"
	ValidatingName = "kruise-validating-webhook-configuration"
)

// Hook is what this service wants of one entry of a configuration. What is not said here is the same
// for all hooks: failure policy Fail, no side effects, ten seconds (WH-6, WH-7).
type Hook struct {
	Name string
	Path string
	// Mutating tells which of the two configurations the hook stands in.
	Mutating bool
	Rules    []admissionv1.RuleWithOperations
	// The selectors and conditions keep requests away that the hook has no business with (WH-150).
	NamespaceSelector metav1.LabelSelector
	ObjectSelector    metav1.LabelSelector
	MatchConditions   []admissionv1.MatchCondition
}

// known reports whether a hook of this name belongs to this service, in some family or version: such a
// hook is removed where it is not wanted. The names are those of WH-10 to WH-46 and WH-151, which are
// fixed, and what this service adds to them.
func known(name string) bool {
	return slices.Contains([]string{
		"mpod.kb.io", "madvancedcronjob.kb.io", "mbroadcastjob.kb.io", "mcloneset.kb.io",
		"mcontainerrecreaterequest.kb.io", "mdaemonset.kb.io", "mimagelistpulljob-v1beta1.kb.io",
		"mimagepulljob-v1beta1.kb.io", "mnodeimage.kb.io", "msidecarset.kb.io", "mstatefulset.kb.io",
		"muniteddeployment.kb.io", "mconfigmapset.kb.io",

		"vpod.kb.io", "vpodeviction.kb.io", "vadvancedcronjob.kb.io", "vbroadcastjob.kb.io",
		"vcloneset.kb.io", "vcloneset-delete.kb.io", "vdaemonset.kb.io", "vephemeraljobs.kb.io",
		"vimagelistpulljob-v1beta1.kb.io", "vimagepulljob-v1beta1.kb.io", "vnodeimage.kb.io",
		"vpersistentpodstate.kb.io", "vpodprobemarker.kb.io", "vpodunavailablebudget.kb.io",
		"vresourcedistribution.kb.io", "vsidecarset.kb.io", "vstatefulset.kb.io",
		"vuniteddeployment.kb.io", "vworkloadspread.kb.io", "vconfigmapset.kb.io",

		"vbuiltindeployment.kb.io", "vbuiltinreplicaset.kb.io", "vbuiltinstatefulset.kb.io",
		"vcustomresourcedefinition.kb.io", "vnamespace.kb.io", "vservice.kb.io", "vingress.kb.io",
	}, name)
}
