package e2e_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
)

// withImage counts the pods of the CloneSet web that should run an image.
func (s *scene) withImage(image string) int {
	n := 0
	for _, p := range s.pods("web") {
		if imageOf(p) == image {
			n++
		}
	}
	return n
}

func TestPartition(t *testing.T) {
	t.Parallel()
	assess(t, "CS-62: partition 99% of 4 updates one pod, and no more", func(s *scene) {
		s.create(web("web", 4, func(set *v1beta1.CloneSet) { set.Spec.ProgressDeadlineSeconds = new(int32(600)) }))
		s.settle("web")
		mark := s.history.Mark()
		s.edit(func(set *v1beta1.CloneSet) {
			partition("99%")(set)
			set.Spec.Template.Spec.Containers[0].Image = webV2
		})
		s.eventually(aWhile, func(g Gomega) { g.Expect(s.withImage(webV2)).To(Equal(1)) })
		set := s.settle("web")
		s.Expect(set.Status.ExpectedUpdatedReplicas).To(BeEquivalentTo(1))
		s.stays(5*time.Second, func(g Gomega) { g.Expect(s.withImage(webV2)).To(Equal(1)) })
		s.eventually(aWhile, func(g Gomega) {
			g.Expect(s.cloneSet("web").Status.Conditions).To(ContainElement(And(
				HaveField("Type", v1beta1.CloneSetConditionTypeProgressing),
				HaveField("Reason", Equal(string(v1beta1.CloneSetProgressPartitionAvailable))))))
		})
		s.Expect(s.since(mark).Replaced()).To(Succeed())
	})
	assess(t, "CS-121, CS-122: step by step, and raising the partition does nothing", func(s *scene) {
		s.create(web("web", 4, atATime(2), partition("4")))
		s.settle("web")
		mark := s.history.Mark()
		s.setImage(webV2)
		s.stays(3*time.Second, func(g Gomega) { g.Expect(s.withImage(webV2)).To(BeZero()) })
		s.edit(partition("3"))
		s.eventually(aWhile, func(g Gomega) { g.Expect(s.withImage(webV2)).To(Equal(1)) })
		s.edit(partition("1"))
		s.eventually(aWhile, func(g Gomega) { g.Expect(s.withImage(webV2)).To(Equal(3)) })
		s.settle("web")
		s.edit(partition("4"))
		s.stays(3*time.Second, func(g Gomega) { g.Expect(s.withImage(webV2)).To(Equal(3)) })
		s.edit(partition("0"))
		set := s.settle("web")
		s.Expect(set.Status.UpdatedReplicas).To(BeEquivalentTo(4))
		s.Expect(set.Status.CurrentRevision).To(Equal(set.Status.UpdateRevision))
		span := s.since(mark)
		s.Expect(span.Replaced()).To(Succeed())
		s.Expect(span.MostUnavailable(4)).To(BeNumerically("<=", 2))
	})
}

func TestRollBack(t *testing.T) {
	t.Parallel()
	assess(t, "RV-7, CS-124: going back to an earlier template reuses its revision", func(s *scene) {
		s.create(web("web", 3, atATime(3)))
		first := s.settle("web").Status.UpdateRevision
		mark := s.history.Mark()
		s.edit(func(set *v1beta1.CloneSet) {
			partition("1")(set)
			set.Spec.Template.Spec.Containers[0].Image = webV2
		})
		s.eventually(aWhile, func(g Gomega) { g.Expect(s.withImage(webV2)).To(Equal(2)) })
		second := s.settle("web").Status.UpdateRevision
		s.Expect(second).NotTo(Equal(first))

		s.edit(func(set *v1beta1.CloneSet) {
			partition("0")(set)
			set.Spec.Template.Spec.Containers[0].Image = webV1
		})
		s.eventually(aWhile, func(g Gomega) { g.Expect(s.withImage(webV1)).To(Equal(3)) })
		s.Expect(s.settle("web").Status.UpdateRevision).To(Equal(first))
		var revisions appsv1.ControllerRevisionList
		s.Expect(s.List(s.ctx, &revisions, client.InNamespace(s.ns))).To(Succeed())
		numbers := map[string]int64{}
		for _, r := range revisions.Items {
			numbers[r.Name] = r.Revision
		}
		s.Expect(numbers).To(Equal(map[string]int64{first: 3, second: 2}))
		s.Expect(s.since(mark).Replaced()).To(Succeed())
	})
}

func TestBrokenImage(t *testing.T) {
	t.Parallel()
	assess(t, "CS-109: a broken image stops at maxUnavailable, and mending it goes on", func(s *scene) {
		s.needsKubelet("every image runs on a simulated node")
		s.create(web("web", 5, atATime(2)))
		s.settle("web")
		mark := s.history.Mark()
		s.setImage(webBroken)
		s.eventually(aWhile, func(g Gomega) {
			g.Expect(s.withImage(webBroken)).To(Equal(2))
			g.Expect(s.cloneSet("web").Status.ReadyReplicas).To(BeEquivalentTo(3))
		})
		s.stays(8*time.Second, func(g Gomega) {
			g.Expect(s.withImage(webBroken)).To(Equal(2))
			g.Expect(s.cloneSet("web").Status.ReadyReplicas).To(BeEquivalentTo(3))
		})
		s.setImage(webV2)
		s.settle("web")
		s.Expect(s.withImage(webV2)).To(Equal(5))
		span := s.since(mark)
		s.Expect(span.Replaced()).To(Succeed())
		s.Expect(span.MostUnavailable(5)).To(Equal(2))
	})
}
