package e2e_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// takeOver is how long the operator may be without a leader after one was killed: a lease that was not given
// back runs out after 15 seconds, and is tried for every 2.
const takeOver = 20 * time.Second

func TestOneLeader(t *testing.T) {
	assess(t, "DEP-196: of several operator pods one leads", func(s *scene) {
		s.needsPods()
		s.Expect(len(s.systemPods(workloadsName))).To(BeNumerically(">=", 2))
		s.leader()
	})
}

// leader waits until one of the operator's pods holds the lease, and returns it.
func (s *scene) leader() corev1.Pod {
	s.t.Helper()
	var leader corev1.Pod
	s.eventually(takeOver, func(g Gomega) {
		var lease coordinationv1.Lease
		g.Expect(s.Get(s.ctx, client.ObjectKey{Namespace: systemNamespace, Name: workloadsName}, &lease)).To(Succeed())
		g.Expect(lease.Spec.HolderIdentity).NotTo(BeNil())
		var holders []corev1.Pod
		for _, p := range s.systemPods(workloadsName) {
			if strings.HasPrefix(*lease.Spec.HolderIdentity, p.Name) {
				holders = append(holders, p)
			}
		}
		g.Expect(holders).To(HaveLen(1), "pods that hold the lease as %s", *lease.Spec.HolderIdentity)
		leader = holders[0]
	})
	return leader
}

func TestLeaderKilledDuringRollOut(t *testing.T) {
	assess(t, "CS-22.36, IP-19.28: another operator pod goes on with the roll-out, and nothing is recreated", func(s *scene) {
		s.needsPods()
		s.create(web("web", 6, atATime(2), grace(2)))
		s.settle("web")
		leader := s.leader()
		mark := s.history.Mark()
		s.setImage(webV2)
		s.eventually(aWhile, func(g Gomega) { g.Expect(s.withImage(webV2)).To(BeNumerically(">=", 1)) })
		s.Expect(s.withImage(webV2)).To(BeNumerically("<", 6), "the roll-out is under way")
		s.Expect(s.Delete(s.ctx, &leader, client.GracePeriodSeconds(0))).To(Succeed())

		s.Expect(s.leader().Name).NotTo(Equal(leader.Name))
		s.settle("web")
		s.Expect(s.withImage(webV2)).To(Equal(6))
		span := s.since(mark)
		s.Expect(span.Replaced()).To(Succeed())
		s.Expect(span.SwappedUndrained()).To(Succeed())
		s.Expect(span.MostUnavailable(6)).To(BeNumerically("<=", 2))
		s.allReady()
	})
}
