package e2e_test

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1alpha1"
	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

func TestOlderVersion(t *testing.T) {
	t.Parallel()
	assess(t, "CS-45, CS-46, CS-48: v1alpha1 is converted both ways, works, and scales", func(s *scene) {
		template := web("web", 2).Spec.Template
		old := &v1alpha1.CloneSet{
			ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{wire.LabelScalingExcludePreparingDelete: "true"}},
			Spec: v1alpha1.CloneSetSpec{
				Replicas: new(int32(2)),
				Selector: &metav1.LabelSelector{MatchLabels: template.Labels},
				Template: template,
				UpdateStrategy: v1alpha1.CloneSetUpdateStrategy{
					Type: v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType, MaxUnavailable: new(one()),
				},
			},
		}
		s.create(old)
		hub := s.settle("web")
		s.Expect(hub.Spec.UpdateStrategy.RollingUpdate.PodUpdatePolicy).To(Equal(v1beta1.InPlaceIfPossiblePodUpdateStrategyType))
		s.Expect(hub.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable.IntValue()).To(Equal(1))
		s.Expect(hub.Spec.ScaleStrategy.EnablePVCReuse).To(BeTrue(), "claims are reused unless v1alpha1 says otherwise")
		s.Expect(hub.Spec.ScaleStrategy.ExcludePreparingDelete).To(BeTrue())

		read := &v1alpha1.CloneSet{}
		s.Expect(s.Get(s.ctx, s.key("web"), read)).To(Succeed())
		s.Expect(read.Spec.UpdateStrategy.Type).To(Equal(v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType))
		s.Expect(read.Spec.ScaleStrategy.DisablePVCReuse).To(BeFalse())
		s.Expect(read.Labels).To(HaveKeyWithValue(wire.LabelScalingExcludePreparingDelete, "true"))
		s.Expect(read.Status).To(HaveField("ReadyReplicas", BeEquivalentTo(2)))

		s.scale(read, 3)
		s.Expect(*s.settle("web").Spec.Replicas).To(BeEquivalentTo(3))
	})
	assess(t, "CS-48, C-6: what v1alpha1 has no word for survives a change through it", func(s *scene) {
		s.create(web("web", 0, func(set *v1beta1.CloneSet) {
			set.Spec.UpdateStrategy.Type = v1beta1.OnDeleteCloneSetUpdateStrategyType
			set.Spec.ScaleStrategy.ExcludePreparingDelete = true
		}))
		before := s.cloneSet("web").Spec
		read := &v1alpha1.CloneSet{}
		s.Expect(s.Get(s.ctx, s.key("web"), read)).To(Succeed())
		read.Spec.MinReadySeconds = 7
		s.Expect(s.Update(s.ctx, read)).To(Succeed())
		before.MinReadySeconds = 7
		s.Expect(s.cloneSet("web").Spec).To(Equal(before))
	})
}
