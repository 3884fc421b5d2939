package e2e_test

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/e2e/history"
	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

func TestImageInPlace(t *testing.T) {
	t.Parallel()
	assess(t, "IP-39, IP-71, CS-109: an image change keeps every pod and restarts each once, one at a time", func(s *scene) {
		s.create(web("web", 4))
		first := s.settle("web").Status.UpdateRevision
		before := s.pods("web")

		mark := s.history.Mark()
		s.setImage(webV2)
		after := s.settle("web")
		span := s.since(mark)

		s.Expect(after.Status.UpdateRevision).NotTo(Equal(first))
		s.Expect(span.Replaced()).To(Succeed())
		s.Expect(span.SwappedUndrained()).To(Succeed())
		s.Expect(span.MostUnavailable(4)).To(Equal(1))
		for i, p := range s.pods("web") {
			s.Expect(p.UID).To(Equal(before[i].UID))
			s.Expect(p.Status.PodIP).To(Equal(before[i].Status.PodIP))
			s.Expect(p.Spec.NodeName).To(Equal(before[i].Spec.NodeName))
			s.Expect(imageOf(p)).To(Equal(webV2))
			s.Expect(history.ContainerID(&p)).NotTo(Equal(history.ContainerID(&before[i])))
			s.Expect(p.Status.ContainerStatuses[0].RestartCount).To(BeEquivalentTo(1))
			s.Expect(p.Labels).To(HaveKeyWithValue(wire.LabelRevision, after.Status.UpdateRevision))
			s.Expect(p.Labels).To(HaveKeyWithValue(wire.LabelLifecycleState, string(wire.LifecycleNormal)))
			s.Expect(span.Conditions(p.Name, wire.InPlaceUpdateReady)).To(HaveSuffixOf(corev1.ConditionFalse, corev1.ConditionTrue))
		}
	})
}

func TestUpdateOrder(t *testing.T) {
	t.Parallel()
	assess(t, "SO-5: orderPriority updates the pods with higher numbers first", func(s *scene) {
		s.create(web("web", 4, rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) {
			r.PriorityStrategy = &v1beta1.UpdatePriorityStrategy{
				OrderPriority: []v1beta1.UpdatePriorityOrderTerm{{OrderedKey: "turn"}},
			}
		})))
		s.settle("web")
		var order []string
		for i, turn := range []int{2, 4, 1, 3} {
			pod := s.pods("web")[i].Name
			s.label(pod, map[string]string{"turn": fmt.Sprint(turn)})
			order = append(order, pod)
		}
		mark := s.history.Mark()
		s.setImage(webV2)
		s.settle("web")
		s.Expect(s.since(mark).RevisionOrder()).To(Equal([]string{order[1], order[3], order[0], order[2]}))
	})
	assess(t, "SO-4: weightPriority updates the pods with more weight first", func(s *scene) {
		s.create(web("web", 3, rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) {
			r.PriorityStrategy = &v1beta1.UpdatePriorityStrategy{WeightPriority: []v1beta1.UpdatePriorityWeightTerm{
				{Weight: 20, MatchSelector: metav1.LabelSelector{MatchLabels: map[string]string{"tier": "early"}}},
				{Weight: 10, MatchSelector: metav1.LabelSelector{MatchLabels: map[string]string{"tier": "middle"}}},
			}}
		})))
		s.settle("web")
		names := named(s.pods("web"))
		s.label(names[0], map[string]string{"tier": "middle"})
		s.label(names[2], map[string]string{"tier": "early"})
		mark := s.history.Mark()
		s.setImage(webV2)
		s.settle("web")
		s.Expect(s.since(mark).RevisionOrder()).To(Equal([]string{names[2], names[0], names[1]}))
	})
}

func TestSameImageUnderAnotherName(t *testing.T) {
	t.Parallel()
	assess(t, "IP-77: an update to another name of the same image completes", func(s *scene) {
		s.needsKubelet("simulated containers have an image ID made of the name")
		s.create(web("web", 1, func(set *v1beta1.CloneSet) {
			set.Spec.Template.Spec.Containers[0].Image = pauseV1
			set.Spec.Template.Spec.Containers[0].ReadinessProbe = nil
		}))
		s.settle("web")
		before := s.pods("web")[0]

		mark := s.history.Mark()
		s.setImage(samePause)
		s.settle("web")

		after := s.pods("web")[0]
		s.Expect(s.since(mark).Replaced()).To(Succeed())
		s.Expect(imageOf(after)).To(Equal(samePause))
		s.Expect(after.Status.ContainerStatuses[0].ImageID).To(Equal(before.Status.ContainerStatuses[0].ImageID), "both names are one image")
		s.Expect(history.ContainerID(&after)).NotTo(Equal(history.ContainerID(&before)))
	})
}

func TestMetadataInPlace(t *testing.T) {
	t.Parallel()
	assess(t, "IP-15, IP-16: changed labels and annotations reach the pods without a restart", func(s *scene) {
		s.create(web("web", 2, func(set *v1beta1.CloneSet) {
			set.Spec.Template.Labels["tier"] = "one"
			set.Spec.Template.Labels["dropped"] = "yes"
			set.Spec.Template.Annotations = map[string]string{"note": "one", "dropped": "yes"}
		}))
		s.settle("web")
		before := s.pods("web")
		for _, p := range before {
			s.label(p.Name, map[string]string{"foreign": "kept"})
		}

		mark := s.history.Mark()
		s.edit(func(set *v1beta1.CloneSet) {
			set.Spec.Template.Labels["tier"] = "two"
			delete(set.Spec.Template.Labels, "dropped")
			set.Spec.Template.Annotations = map[string]string{"note": "two", "added": "yes"}
		})
		s.settle("web")
		span := s.since(mark)

		s.Expect(span.Replaced()).To(Succeed())
		s.Expect(span.Restarted()).To(BeEmpty())
		for i, p := range s.pods("web") {
			s.Expect(p.UID).To(Equal(before[i].UID))
			s.Expect(p.Labels).To(And(HaveKeyWithValue("tier", "two"), HaveKeyWithValue("foreign", "kept"), Not(HaveKey("dropped"))))
			s.Expect(p.Annotations).To(And(HaveKeyWithValue("note", "two"), HaveKeyWithValue("added", "yes"), Not(HaveKey("dropped"))))
			s.Expect(p.Status.ContainerStatuses[0].RestartCount).To(BeZero())
		}
	})
}

func TestNotInPlace(t *testing.T) {
	t.Parallel()
	changeEnv := func(set *v1beta1.CloneSet) {
		set.Spec.Template.Spec.Containers[0].Env[0].Value = "10ms"
	}
	assess(t, "IP-12, CS-112, CS-114: InPlaceIfPossible recreates what cannot be changed in place", func(s *scene) {
		s.create(web("web", 3))
		s.settle("web")
		before := s.pods("web")
		mark := s.history.Mark()
		s.edit(changeEnv)
		s.settle("web")
		after := s.pods("web")
		for _, p := range before {
			s.Expect(named(after)).NotTo(ContainElement(p.Name))
		}
		for _, p := range after {
			s.Expect(p.Spec.Containers[0].Env[0].Value).To(Equal("10ms"))
		}
		s.Expect(s.since(mark).MostUnavailable(3)).To(BeNumerically("<=", 1))
	})
	assess(t, "CS-43, CS-113: InPlaceOnly refuses it, or reports it, and recreates nothing", func(s *scene) {
		s.create(web("web", 2, rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) {
			r.PodUpdatePolicy = v1beta1.InPlaceOnlyPodUpdateStrategyType
		})))
		s.settle("web")
		mark := s.history.Mark()
		if err := s.tryEdit(changeEnv); err != nil {
			s.Expect(err).To(MatchError(ContainSubstring("spec.template")))
		} else {
			s.eventually(aWhile, func(g Gomega) {
				g.Expect(s.cloneSet("web").Status.Conditions).To(ContainElement(And(
					HaveField("Type", v1beta1.CloneSetConditionFailedUpdate), HaveField("Status", corev1.ConditionTrue))))
			})
		}
		s.Expect(s.since(mark).Replaced()).To(Succeed())
	})
}
