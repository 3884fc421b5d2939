// Package cloneset knows how a CloneSet is completed, judged and protected at admission. All of it is
// pure and speaks the hub version, v1beta1; the differences of v1alpha1 that users see are in alpha.go.
package cloneset

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/gates"
	"github.com/flotilla-k8s/flotilla/webhook/podtemplate"
)

// Default fills in, in place, what the user left out of set. old is the object as stored, nil on create.
// Applying it twice changes nothing. Source: CS-24 to CS-28a, CS-7.
func Default(set, old *v1beta1.CloneSet, g gates.Set) {
	fill(&set.Spec.Replicas, 1)
	fill(&set.Spec.RevisionHistoryLimit, 10)
	defaultUpdateStrategy(&set.Spec.UpdateStrategy)
	if g.Enabled(gates.TemplateNoDefaults) || templateUnchanged(set, old) {
		return
	}
	podtemplate.Default(&set.Spec.Template, g.Enabled(gates.DefaultHostNetworkHostPortsInPodTemplates))
	podtemplate.DefaultClaims(set.Spec.VolumeClaimTemplates)
}

// templateUnchanged is true when new defaults must stay out, because they would start a rollout that
// nobody asked for (CS-28).
func templateUnchanged(set, old *v1beta1.CloneSet) bool {
	return old != nil && apiequality.Semantic.DeepEqual(set.Spec.Template, old.Spec.Template)
}

func defaultUpdateStrategy(strategy *v1beta1.CloneSetUpdateStrategy) {
	if strategy.Type == "" {
		strategy.Type = v1beta1.RollingUpdateCloneSetUpdateStrategyType
	}
	if strategy.Type != v1beta1.RollingUpdateCloneSetUpdateStrategyType {
		return
	}
	fill(&strategy.RollingUpdate, v1beta1.RollingUpdateCloneSetStrategy{})
	rolling := strategy.RollingUpdate
	if rolling.PodUpdatePolicy == "" {
		rolling.PodUpdatePolicy = v1beta1.RecreatePodUpdateStrategyType
	}
	fill(&rolling.Partition, intstr.FromInt32(0))
	fill(&rolling.MaxUnavailable, intstr.FromString("20%"))
	fill(&rolling.MaxSurge, intstr.FromInt32(0))
	if rolling.PodUpdatePolicy != v1beta1.RecreatePodUpdateStrategyType {
		fill(&rolling.InPlaceUpdateStrategy, v1beta1.InPlaceUpdateStrategy{})
	}
}

func fill[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
