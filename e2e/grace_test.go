package e2e_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/flotilla-k8s/flotilla/e2e/history"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

func TestGracePeriod(t *testing.T) {
	t.Parallel()
	assess(t, "IP-46, IP-64, IP-67: during the grace period a pod is out of service and keeps its image", func(s *scene) {
		const seconds = 6
		s.create(web("web", 1, grace(seconds)))
		s.settle("web")
		before := s.pods("web")[0]

		mark := s.history.Mark()
		s.setImage(webV2)
		s.eventually(3*time.Second, func(g Gomega) {
			p := s.pod(before.Name)
			g.Expect(history.Ready(p)).To(BeFalse())
			g.Expect(p.Annotations).To(HaveKey(wire.AnnotationInPlaceGrace))
		})
		during := s.pod(before.Name)
		s.Expect(imageOf(*during)).To(Equal(webV1))
		s.Expect(history.ContainerID(during)).To(Equal(history.ContainerID(&before)))
		s.Expect(during.Labels).To(HaveKeyWithValue(wire.LabelLifecycleState, string(wire.LifecycleUpdating)))
		recorded, err := wire.GetInPlaceGrace(during)
		s.Expect(err).NotTo(HaveOccurred())
		s.Expect(recorded.GraceSeconds).To(BeEquivalentTo(seconds))
		s.Expect(recorded.ContainerImages).To(HaveKeyWithValue("web", webV2))
		s.settle("web")

		after := s.pod(before.Name)
		span := s.since(mark)
		s.Expect(span.Replaced()).To(Succeed())
		s.Expect(span.SwappedUndrained()).To(Succeed())
		s.Expect(after.Annotations).NotTo(HaveKey(wire.AnnotationInPlaceGrace))
		s.Expect(imageOf(*after)).To(Equal(webV2))
		drained, swapped := span.DrainTime(before.Name)
		s.Expect(swapped).To(BeTrue())
		// The start is recorded in whole seconds, so up to one is missing.
		s.Expect(drained).To(BeNumerically(">=", (seconds-1)*time.Second))
	})
	assess(t, "IP-64: a template changed during the grace period does not get stuck", func(s *scene) {
		s.create(web("web", 2, atATime(2), grace(4)))
		s.settle("web")
		mark := s.history.Mark()
		s.setImage(webV2)
		s.eventually(aWhile, func(g Gomega) {
			for _, p := range s.pods("web") {
				g.Expect(p.Annotations).To(HaveKey(wire.AnnotationInPlaceGrace))
			}
		})
		s.setImage(webV3)
		s.settle("web")
		s.Expect(s.since(mark).Replaced()).To(Succeed())
		s.Expect(s.pods("web")).To(HaveEach(WithTransform(func(p corev1.Pod) string { return imageOf(p) }, Equal(webV3))))
	})
}
