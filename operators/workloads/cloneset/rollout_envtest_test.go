package cloneset_test

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"

	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/testenv"
)

const soon = 30 * time.Second

func TestCreateAndScale(t *testing.T) {
	g, s := NewWithT(t), newScene(t)
	set := s.create(webSet(3))

	g.Eventually(s.settled(set, 3, "web:v1")).WithTimeout(soon).Should(Succeed())
	for _, pod := range s.pods(set) {
		g.Expect(pod.Name).To(MatchRegexp("^web-[bcdfghjklmnpqrstvwxz2456789]{5}$"), "CS-17")
		g.Expect(pod.Labels).To(HaveKeyWithValue(wire.LabelRevision, s.get(set).Status.UpdateRevision), "CS-16")
		g.Expect(pod.Labels).To(HaveKeyWithValue(wire.LabelLifecycleState, "Normal"), "LC-6")
		g.Expect(pod.Spec.ReadinessGates).To(ContainElement(corev1.PodReadinessGate{ConditionType: wire.InPlaceUpdateReady}), "CS-19")
	}
	before := s.uids(set)

	s.patch(set, func(c *appsv1beta1.CloneSet) { c.Spec.Replicas = new(int32(5)) })
	g.Eventually(s.settled(set, 5, "web:v1")).WithTimeout(soon).Should(Succeed())
	g.Expect(s.uids(set).IsSuperset(before)).To(BeTrue(), "scaling up touches no pod that is there")

	s.patch(set, func(c *appsv1beta1.CloneSet) { c.Spec.Replicas = new(int32(2)) })
	g.Eventually(s.settled(set, 2, "web:v1")).WithTimeout(soon).Should(Succeed())
	g.Expect(s.revisions(set)).To(HaveLen(1), "CS-8: scaling makes no revision")
}

func TestUpdateInPlace(t *testing.T) {
	g, s := NewWithT(t), newScene(t)
	set := s.create(webSet(5, inPlace(2)))
	g.Eventually(s.settled(set, 5, "web:v1")).WithTimeout(soon).Should(Succeed())
	before := s.uids(set)
	watcher := s.watchBudget(set, 2)

	s.setImage(set, "web:v2")
	g.Eventually(s.settled(set, 5, "web:v2")).WithTimeout(soon).Should(Succeed())

	g.Expect(s.uids(set)).To(Equal(before), "in place: no pod was recreated")
	for _, pod := range s.pods(set) {
		g.Expect(pod.Status.ContainerStatuses[0].RestartCount).To(BeEquivalentTo(1))
		g.Expect(pod.Labels).To(HaveKeyWithValue(wire.LabelRevision, s.get(set).Status.UpdateRevision))
	}
	status := s.get(set).Status
	g.Expect(status.CurrentRevision).To(Equal(status.UpdateRevision))
	watcher.verify()
}

func TestPartitionAndRollback(t *testing.T) {
	g, s := NewWithT(t), newScene(t)
	set := s.create(webSet(4, inPlace(2)))
	g.Eventually(s.settled(set, 4, "web:v1")).WithTimeout(soon).Should(Succeed())
	before, first := s.uids(set), s.get(set).Status.UpdateRevision

	s.patch(set, func(c *appsv1beta1.CloneSet) {
		c.Spec.UpdateStrategy.RollingUpdate.Partition = new(intstr.FromString("99%"))
		c.Spec.Template.Spec.Containers[0].Image = "web:v2"
	})
	g.Eventually(func() map[string]int { return s.images(set) }).WithTimeout(soon).
		Should(Equal(map[string]int{"web:v1": 3, "web:v2": 1}), "CS-62: 99% of 4 keeps 3")
	g.Consistently(func() map[string]int { return s.images(set) }).WithTimeout(time.Second).
		Should(Equal(map[string]int{"web:v1": 3, "web:v2": 1}))
	g.Expect(s.get(set).Status.ExpectedUpdatedReplicas).To(BeEquivalentTo(1))

	s.patch(set, func(c *appsv1beta1.CloneSet) {
		c.Spec.UpdateStrategy.RollingUpdate.Partition = nil
		c.Spec.Template.Spec.Containers[0].Image = "web:v1"
	})
	g.Eventually(s.settled(set, 4, "web:v1")).WithTimeout(soon).Should(Succeed())
	g.Expect(s.get(set).Status.UpdateRevision).To(Equal(first), "RV-7: a rollback takes the old revision back")
	g.Expect(s.revisions(set)).To(HaveLen(2))
	g.Expect(s.uids(set)).To(Equal(before))
}

func TestBrokenImage(t *testing.T) {
	g, s := NewWithT(t), newScene(t)
	set := s.create(webSet(5, inPlace(2)))
	g.Eventually(s.settled(set, 5, "web:v1")).WithTimeout(soon).Should(Succeed())
	before := s.uids(set)
	watcher := s.watchBudget(set, 2)

	s.setImage(set, "web:broken")
	g.Eventually(func() int { return s.images(set)["web:broken"] }).WithTimeout(soon).Should(Equal(2))
	g.Consistently(func() int { return s.images(set)["web:broken"] }).WithTimeout(time.Second).Should(Equal(2),
		"CS-109: a broken image stops at maxUnavailable")
	g.Expect(s.get(set).Status.ReadyReplicas).To(BeEquivalentTo(3))

	s.setImage(set, "web:v2")
	g.Eventually(s.settled(set, 5, "web:v2")).WithTimeout(soon).Should(Succeed(), "IP-50: a mended template goes on")
	g.Expect(s.uids(set)).To(Equal(before))
	watcher.verify()
}

func TestRecreate(t *testing.T) {
	g, s := NewWithT(t), newScene(t)
	set := s.create(webSet(3))
	g.Eventually(s.settled(set, 3, "web:v1")).WithTimeout(soon).Should(Succeed())
	before := s.uids(set)
	watcher := s.watchBudget(set, 1)

	s.setImage(set, "web:v2")
	g.Eventually(s.settled(set, 3, "web:v2")).WithTimeout(soon).Should(Succeed())
	g.Expect(s.uids(set).Intersection(before)).To(BeEmpty(), "PD-2: every pod was replaced")
	watcher.verify()
}

func TestInPlaceIfPossibleFallsBack(t *testing.T) {
	g, s := NewWithT(t), newScene(t)
	set := s.create(webSet(2, inPlace(1)))
	g.Eventually(s.settled(set, 2, "web:v1")).WithTimeout(soon).Should(Succeed())
	before := s.uids(set)

	s.patch(set, func(c *appsv1beta1.CloneSet) {
		c.Spec.Template.Spec.Containers[0].Image = "web:v2"
		c.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "MODE", Value: "fast"}}
	})
	g.Eventually(s.settled(set, 2, "web:v2")).WithTimeout(soon).Should(Succeed())
	g.Expect(s.uids(set).Intersection(before)).To(BeEmpty(), "CS-112: what does not qualify is recreated")
}

func TestInPlaceOnlyReports(t *testing.T) {
	g, s := NewWithT(t), newScene(t)
	set := s.create(webSet(2, inPlace(1), func(c *appsv1beta1.CloneSet) {
		c.Spec.UpdateStrategy.RollingUpdate.PodUpdatePolicy = appsv1beta1.InPlaceOnlyPodUpdateStrategyType
	}))
	g.Eventually(s.settled(set, 2, "web:v1")).WithTimeout(soon).Should(Succeed())
	before := s.uids(set)
	addEnv := func(c *appsv1beta1.CloneSet) {
		c.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "MODE", Value: "fast"}}
	}
	s.patch(set, addEnv)
	failed := func() *appsv1beta1.CloneSetCondition {
		return s.condition(set, appsv1beta1.CloneSetConditionFailedUpdate)
	}
	g.Eventually(failed).WithTimeout(soon).ShouldNot(BeNil(), "CS-113")
	g.Expect(failed().Message).To(ContainSubstring("env"), "the refusal names the field")
	g.Expect(s.uids(set)).To(Equal(before))

	s.patch(set, func(c *appsv1beta1.CloneSet) {
		c.Spec.Template.Spec.Containers[0].Env = nil
		c.Spec.Template.Spec.Containers[0].Image = "web:v2"
	})
	g.Eventually(s.settled(set, 2, "web:v2")).WithTimeout(soon).Should(Succeed())
	g.Eventually(failed).WithTimeout(soon).Should(BeNil(), "C-9: the condition is cleared when its cause is gone")
}

func TestGracePeriod(t *testing.T) {
	g, s := NewWithT(t), newScene(t)
	const grace = 3
	set := s.create(webSet(1, inPlace(1), func(c *appsv1beta1.CloneSet) {
		c.Spec.UpdateStrategy.RollingUpdate.InPlaceUpdateStrategy = &appsv1beta1.InPlaceUpdateStrategy{GracePeriodSeconds: grace}
	}))
	g.Eventually(s.settled(set, 1, "web:v1")).WithTimeout(soon).Should(Succeed())
	s.setImage(set, "web:v2")

	g.Eventually(func() bool {
		pod := s.pods(set)[0]
		_, inGrace := pod.Annotations[wire.AnnotationInPlaceGrace]
		return inGrace && conditionOf(&pod, wire.InPlaceUpdateReady) == corev1.ConditionFalse &&
			conditionOf(&pod, corev1.PodReady) == corev1.ConditionFalse && pod.Spec.Containers[0].Image == "web:v1"
	}).WithTimeout(soon).Should(BeTrue(), "IP-46: not ready at once, the image stays")
	g.Eventually(func() string { return s.pods(set)[0].Spec.Containers[0].Image }).WithTimeout(soon).Should(Equal("web:v2"))
	pod := s.pods(set)[0]
	state, err := wire.GetInPlaceState(&pod)
	g.Expect(err).NotTo(HaveOccurred())
	swapped := state.ContainerBatchesRecord[0].Timestamp.Time
	g.Expect(swapped.Sub(state.UpdateTimestamp.Time)).To(BeNumerically(">=", grace*time.Second), "IP-64")
	g.Eventually(s.settled(set, 1, "web:v2")).WithTimeout(soon).Should(Succeed())
	g.Expect(s.pods(set)[0].Annotations).NotTo(HaveKey(wire.AnnotationInPlaceGrace))
}

func TestSpecifiedDelete(t *testing.T) {
	g, s := NewWithT(t), newScene(t)
	set := s.create(webSet(3))
	g.Eventually(s.settled(set, 3, "web:v1")).WithTimeout(soon).Should(Succeed())
	pods := s.pods(set)

	s.labelPod(&pods[0], wire.LabelSpecifiedDelete, "")
	g.Eventually(func() bool { return !s.uids(set).Has(pods[0].UID) }).WithTimeout(soon).Should(BeTrue(), "PD-1")
	g.Eventually(s.settled(set, 3, "web:v1")).WithTimeout(soon).Should(Succeed())
	g.Expect(s.uids(set).HasAll(pods[1].UID, pods[2].UID)).To(BeTrue(), "CS-85: only it was replaced")

	s.patch(set, func(c *appsv1beta1.CloneSet) {
		c.Spec.Replicas = new(int32(2))
		c.Spec.ScaleStrategy.PodsToDelete = []string{pods[1].Name, "never-existed"}
	})
	g.Eventually(s.settled(set, 2, "web:v1")).WithTimeout(soon).Should(Succeed())
	g.Expect(s.uids(set).Has(pods[1].UID)).To(BeFalse())
	g.Eventually(func() []string { return s.get(set).Spec.ScaleStrategy.PodsToDelete }).WithTimeout(soon).Should(BeEmpty(), "CS-87")
}

func TestHistoryLimit(t *testing.T) {
	g, s := NewWithT(t), newScene(t)
	set := s.create(webSet(1, inPlace(1), func(c *appsv1beta1.CloneSet) { c.Spec.RevisionHistoryLimit = new(int32(2)) }))
	for i := range 6 {
		image := fmt.Sprintf("web:v%d", i)
		s.setImage(set, image)
		g.Eventually(s.settled(set, 1, image)).WithTimeout(soon).Should(Succeed())
	}
	g.Eventually(func() int { return len(s.revisions(set)) }).WithTimeout(soon).Should(Equal(3), "RV-10: two and the live one")
}

func TestRelease(t *testing.T) {
	g, s := NewWithT(t), newScene(t)
	set := s.create(webSet(2))
	g.Eventually(s.settled(set, 2, "web:v1")).WithTimeout(soon).Should(Succeed())
	stray := s.pods(set)[0]

	s.labelPod(&stray, "app", "somebody-else")
	g.Eventually(func() int { return len(s.read(&stray).OwnerReferences) }).WithTimeout(soon).Should(BeZero(), "CS-58")
	g.Eventually(s.settled(set, 2, "web:v1")).WithTimeout(soon).Should(Succeed())
}

func TestClaims(t *testing.T) {
	g, s := NewWithT(t), newScene(t)
	set := s.create(webSet(2, inPlace(1), withClaim("data"), func(c *appsv1beta1.CloneSet) {
		c.Spec.ScaleStrategy.EnablePVCReuse = true
	}))
	g.Eventually(s.settled(set, 2, "web:v1")).WithTimeout(soon).Should(Succeed())
	claims := s.claimNames(set)
	g.Expect(claims).To(HaveLen(2), "CS-95")
	g.Expect(s.revisions(set)[0].Annotations[wire.AnnotationVCTHash]).To(MatchRegexp("^[0-9]+$"), "RV-14")

	s.setImage(set, "web:v2")
	g.Eventually(s.settled(set, 2, "web:v2")).WithTimeout(soon).Should(Succeed())
	g.Expect(s.claimNames(set)).To(Equal(claims), "CS-98: kept in place")

	victim := s.pods(set)[0]
	g.Expect(s.client.Delete(t.Context(), &victim)).To(Succeed())
	g.Eventually(func() bool { return !s.uids(set).Has(victim.UID) }).WithTimeout(soon).Should(BeTrue())
	g.Eventually(s.settled(set, 2, "web:v2")).WithTimeout(soon).Should(Succeed())
	g.Expect(s.claimNames(set)).To(Equal(claims), "CS-100: the replacement takes the free claim")

	s.patch(set, func(c *appsv1beta1.CloneSet) { c.Spec.Replicas = new(int32(1)) })
	g.Eventually(func() sets.Set[string] { return s.claimNames(set) }).WithTimeout(soon).Should(HaveLen(1),
		"CS-98: deleted with the pod")
}

// TestNamespaceGoes deletes the namespace in the middle of a roll-out: the controller creates nothing any
// more and takes no error from it.
func TestNamespaceGoes(t *testing.T) {
	g, s := NewWithT(t), newEmptyScene(t)
	faults := &testenv.Faults{}
	s.startOperator(faults.Wrap(server.Config(t)))
	set := s.create(webSet(3))
	g.Eventually(s.settled(set, 3, "web:v1")).WithTimeout(soon).Should(Succeed())
	g.Expect(s.client.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}})).To(Succeed())
	s.setImage(set, "web:v2")
	creations := func() int { return faults.Counts()["create controllerrevisions"] }
	g.Eventually(creations).WithTimeout(soon).Should(Equal(2), "the second revision is refused")
	g.Consistently(creations).WithTimeout(2*time.Second).Should(Equal(2), "and not tried again")
}

// The events of a set are what a user reads first.
func TestEvents(t *testing.T) {
	g, s := NewWithT(t), newScene(t)
	set := s.create(webSet(1, inPlace(1)))
	g.Eventually(s.settled(set, 1, "web:v1")).WithTimeout(soon).Should(Succeed())
	s.setImage(set, "web:v2")
	g.Eventually(s.settled(set, 1, "web:v2")).WithTimeout(soon).Should(Succeed())
	g.Eventually(func() sets.Set[string] { return s.eventReasons(set) }).WithTimeout(soon).
		Should(And(HaveKey("SuccessfulCreate"), HaveKey("SuccessfulUpdatePodInPlace")), "section 5")
}
