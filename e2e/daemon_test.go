package e2e_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flotilla-k8s/flotilla/e2e/history"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

func TestRuntimeContainersMeta(t *testing.T) {
	t.Parallel()
	assess(t, "IP-80, IP-83, IP-84: the node agent reports the containers that run, and again after an update", func(s *scene) {
		s.needsKubelet("no runtime has containers to report")
		s.create(web("web", 1))
		s.settle("web")
		first := s.reported("web")
		s.setImage(webV2)
		s.settle("web")
		second := s.reported("web")
		s.Expect(second.ContainerID).NotTo(Equal(first.ContainerID))
		s.Expect(second.Hashes.PlainHash).NotTo(Equal(first.Hashes.PlainHash))
		s.Expect(second.RestartCount).To(BeEquivalentTo(1))
	})
}

// reported waits until the report on the only pod of a set agrees with the kubelet's, and returns it.
func (s *scene) reported(set string) wire.RuntimeContainerMeta {
	s.t.Helper()
	var container *wire.RuntimeContainerMeta
	s.eventually(aWhile, func(g Gomega) {
		pod := s.pods(set)[0]
		meta, err := wire.GetRuntimeContainersMeta(&pod)
		g.Expect(err).NotTo(HaveOccurred())
		container = meta.Container("web")
		g.Expect(container).NotTo(BeNil(), "report on container web")
		g.Expect(meta.Containers).To(HaveLen(1))
		g.Expect(container.ContainerID).To(Equal(history.ContainerID(&pod)))
		g.Expect(container.RestartCount).To(Equal(pod.Status.ContainerStatuses[0].RestartCount))
		g.Expect(container.Hashes.PlainHash).NotTo(BeZero())
	})
	return *container
}
