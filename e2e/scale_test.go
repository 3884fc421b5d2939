package e2e_test

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/e2e/history"
	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// byHand is a readiness gate that the test opens itself.
const byHand corev1.PodConditionType = "e2e.flotilla/by-hand"

// gated makes the pods of a CloneSet wait for byHand.
func gated(set *v1beta1.CloneSet) {
	set.Spec.Template.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: byHand}}
}

// open sets the gate of a pod.
func (s *scene) open(pod string, status corev1.ConditionStatus) {
	s.t.Helper()
	p := s.pod(pod)
	before := p.DeepCopy()
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: byHand, Status: status})
	s.Expect(s.Status().Patch(s.ctx, p, client.StrategicMergeFrom(before))).To(Succeed())
}

// scale changes the number of pods through the scale subresource, as kubectl and autoscalers do.
func (s *scene) scale(set client.Object, replicas int32) {
	s.t.Helper()
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: set.GetName(), Namespace: s.ns}}
	s.Expect(s.SubResource("scale").Get(s.ctx, set, scale)).To(Succeed())
	scale.Spec.Replicas = replicas
	s.Expect(s.SubResource("scale").Update(s.ctx, set, client.WithSubResourceBody(scale))).To(Succeed())
}

func (s *scene) setReplicas(n int32) func(*v1beta1.CloneSet) {
	return func(set *v1beta1.CloneSet) { set.Spec.Replicas = &n }
}

// becomes waits until a CloneSet has exactly the pods with these names.
func (s *scene) becomes(set string, names []string) {
	s.t.Helper()
	s.eventually(aWhile, func(g Gomega) { g.Expect(named(s.pods(set))).To(ConsistOf(names)) })
}

func TestScaleIn(t *testing.T) {
	t.Parallel()
	assess(t, "CS-91: not ready goes first, then the cheapest", func(s *scene) {
		s.create(web("web", 4, gated))
		s.eventually(aWhile, func(g Gomega) {
			pods := s.pods("web")
			g.Expect(pods).To(HaveLen(4))
			for _, p := range pods {
				g.Expect(p.Status.Phase).To(Equal(corev1.PodRunning))
			}
		})
		names := named(s.pods("web"))
		for _, name := range names[1:] {
			s.open(name, corev1.ConditionTrue)
		}
		s.eventually(aWhile, func(g Gomega) { g.Expect(s.cloneSet("web").Status.AvailableReplicas).To(BeEquivalentTo(3)) })
		s.setCost(names[0], "100")
		s.setCost(names[2], "-100")

		s.scale(s.cloneSet("web"), 3)
		s.becomes("web", names[1:])
		s.scale(s.cloneSet("web"), 2)
		s.becomes("web", []string{names[1], names[3]})
	})
	assess(t, "CS-72, CS-87: podsToDelete go first, and the list is emptied", func(s *scene) {
		s.create(web("web", 3))
		s.settle("web")
		names := named(s.pods("web"))
		s.edit(func(set *v1beta1.CloneSet) {
			set.Spec.Replicas = new(int32(2))
			set.Spec.ScaleStrategy.PodsToDelete = []string{names[1]}
		})
		s.becomes("web", []string{names[0], names[2]})
		s.eventually(aWhile, func(g Gomega) { g.Expect(s.cloneSet("web").Spec.ScaleStrategy.PodsToDelete).To(BeEmpty()) })
		s.settle("web")
	})
	assess(t, "CS-82, CS-85: a pod with the specified-delete label is replaced, the others stay", func(s *scene) {
		s.create(web("web", 3))
		s.settle("web")
		names := named(s.pods("web"))
		mark := s.history.Mark()
		s.label(names[0], map[string]string{wire.LabelSpecifiedDelete: "true"})
		s.eventually(aWhile, func(g Gomega) {
			have := named(s.pods("web"))
			g.Expect(have).To(HaveLen(3))
			g.Expect(have).To(ContainElements(names[1:]))
			g.Expect(have).NotTo(ContainElement(names[0]))
		})
		s.settle("web")
		s.Expect(s.since(mark).Restarted()).To(BeEmpty())
	})
	assess(t, "CS-71: scaling out makes pods of the present template, and the old ones stay", func(s *scene) {
		s.create(web("web", 1))
		s.settle("web")
		old := s.pods("web")[0]
		s.edit(s.setReplicas(4))
		set := s.settle("web")
		s.Expect(named(s.pods("web"))).To(ContainElement(old.Name))
		for _, p := range s.pods("web") {
			s.Expect(p.Labels).To(HaveKeyWithValue(wire.LabelRevision, set.Status.UpdateRevision))
			s.Expect(p.Name).To(Equal("web-" + p.Labels[wire.LabelCloneSetInstanceID]))
			s.Expect(metav1.GetControllerOf(&p).UID).To(Equal(set.UID))
		}
	})
}

// setCost sets how dear a pod is when the set is scaled in.
func (s *scene) setCost(pod, cost string) {
	s.t.Helper()
	p := s.pod(pod)
	before := p.DeepCopy()
	metav1.SetMetaDataAnnotation(&p.ObjectMeta, corev1.PodDeletionCost, cost)
	s.Expect(s.Patch(s.ctx, p, client.MergeFrom(before))).To(Succeed())
}

func TestRecreateWithSurge(t *testing.T) {
	t.Parallel()
	assess(t, "CS-117: with maxSurge 1 and maxUnavailable 0 no pod is missing during a recreation", func(s *scene) {
		s.create(web("web", 3, atATime(0), rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) {
			r.PodUpdatePolicy = v1beta1.RecreatePodUpdateStrategyType
			r.MaxSurge = new(one())
		})))
		s.settle("web")
		before := s.pods("web")
		mark := s.history.Mark()
		s.setImage(webV2)
		s.settle("web")
		s.Expect(s.since(mark).MostUnavailable(3)).To(BeZero())
		uids := uidsOf(before)
		for _, p := range s.pods("web") {
			s.Expect(slices.Contains(uids, p.UID)).To(BeFalse(), "pod %s is new", p.Name)
			s.Expect(history.Ready(&p)).To(BeTrue())
		}
	})
}

func uidsOf(pods []corev1.Pod) []types.UID {
	var uids []types.UID
	for _, p := range pods {
		uids = append(uids, p.UID)
	}
	return uids
}
