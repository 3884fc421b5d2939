package e2e_test

import (
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
)

func one() intstr.IntOrString { return intstr.FromInt32(1) }

func TestRefused(t *testing.T) {
	t.Parallel()
	const rollingPath = "spec.updateStrategy.rollingUpdate."
	cases := []struct {
		name   string
		change func(*v1beta1.CloneSet)
		field  string
	}{
		{"CS-30: a selector that does not match the template", func(set *v1beta1.CloneSet) {
			set.Spec.Selector.MatchLabels = map[string]string{"app": "other"}
		}, "spec.template.metadata.labels"},
		{"CS-30: an empty selector", func(set *v1beta1.CloneSet) { set.Spec.Selector.MatchLabels = nil }, "spec.selector"},
		{"CS-30: a negative number of replicas", func(set *v1beta1.CloneSet) { set.Spec.Replicas = new(int32(-1)) }, "spec.replicas"},
		{"CS-31: a template without containers", func(set *v1beta1.CloneSet) {
			set.Spec.Template.Spec.Containers = nil
		}, "spec.template.spec.containers"},
		{"CS-35: a negative partition", partition("-1"), rollingPath + "partition"},
		{"CS-35: a partition of a negative percentage", partition("-1%"), rollingPath + "partition"},
		{"CS-35: a partition that is neither number nor percentage", rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) {
			r.Partition = new(intstr.FromString("5"))
		}), rollingPath + "partition"},
		{"CS-36: a maxUnavailable that is neither number nor percentage", rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) {
			r.MaxUnavailable = new(intstr.FromString("some"))
		}), rollingPath + "maxUnavailable"},
		{"CS-37: a surge with InPlaceOnly", rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) {
			r.PodUpdatePolicy = v1beta1.InPlaceOnlyPodUpdateStrategyType
			r.MaxSurge = new(one())
		}), "maxSurge"},
		{"CS-38: neither unavailable nor surplus pods", rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) {
			r.MaxUnavailable, r.MaxSurge = new(intstr.FromInt32(0)), new(intstr.FromInt32(0))
		}), rollingPath + "maxUnavailable"},
	}
	assess(t, "CS-30 to CS-38: bad input is refused with the name of the field", func(s *scene) {
		for _, c := range cases {
			set := web("web", 2, c.change)
			set.Namespace = s.ns
			err := s.Create(s.ctx, set)
			s.Expect(apierrors.IsInvalid(err) || apierrors.IsForbidden(err)).To(BeTrue(), "%s: the answer is %v", c.name, err)
			s.Expect(err).To(MatchError(ContainSubstring(c.field)), c.name)
		}
	})
	assess(t, "CS-42: the selector cannot be changed", func(s *scene) {
		s.create(web("web", 0))
		err := s.tryEdit(func(set *v1beta1.CloneSet) {
			set.Spec.Selector.MatchLabels = map[string]string{"app": "other"}
			set.Spec.Template.Labels = map[string]string{"app": "other"}
		})
		s.Expect(err).To(MatchError(ContainSubstring("spec.selector")))
	})
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	assess(t, "CS-24, CS-26: what is left out is filled in", func(s *scene) {
		set := web("web", 0)
		set.Spec.Replicas = nil
		set.Spec.UpdateStrategy = v1beta1.CloneSetUpdateStrategy{}
		set.Spec.Template.Spec.Containers[0].ImagePullPolicy = ""
		s.create(set)
		have := s.cloneSet("web").Spec
		s.Expect(*have.Replicas).To(BeEquivalentTo(1))
		s.Expect(*have.RevisionHistoryLimit).To(BeEquivalentTo(10))
		s.Expect(have.UpdateStrategy.Type).To(Equal(v1beta1.RollingUpdateCloneSetUpdateStrategyType))
		s.Expect(have.UpdateStrategy.RollingUpdate.PodUpdatePolicy).To(Equal(v1beta1.RecreatePodUpdateStrategyType))
		s.Expect(have.UpdateStrategy.RollingUpdate.MaxUnavailable.String()).To(Equal("20%"))
		s.Expect(have.Template.Spec.Containers[0].ImagePullPolicy).To(BeEquivalentTo("Always"))
	})
}
