package e2e_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// hookLabel holds pods at a hook while it has the value "true".
const hookLabel = "e2e.flotilla/hook"

// hooked gives the pods of a CloneSet the label, and lets the CloneSet wait for it at some hooks.
func hooked(add func(*v1beta1.Lifecycle, *v1beta1.LifecycleHook)) func(*v1beta1.CloneSet) {
	return func(set *v1beta1.CloneSet) {
		set.Spec.Template.Labels[hookLabel] = "true"
		set.Spec.Lifecycle = &v1beta1.Lifecycle{}
		add(set.Spec.Lifecycle, &v1beta1.LifecycleHook{LabelsHandler: map[string]string{hookLabel: "true"}})
	}
}

// reaches waits until a pod is in a lifecycle state.
func (s *scene) reaches(pod string, state wire.LifecycleState) {
	s.t.Helper()
	s.eventually(aWhile, func(g Gomega) {
		g.Expect(s.pod(pod).Labels).To(HaveKeyWithValue(wire.LabelLifecycleState, string(state)))
	})
}

func TestUpdateHook(t *testing.T) {
	t.Parallel()
	assess(t, "LC-7, LC-8, LC-10, LC-11: an in-place update waits for the user before and after", func(s *scene) {
		s.create(web("web", 1, hooked(func(l *v1beta1.Lifecycle, hook *v1beta1.LifecycleHook) { l.InPlaceUpdate = hook })))
		s.settle("web")
		pod := s.pods("web")[0].Name
		s.setImage(webV2)
		s.reaches(pod, wire.LifecyclePreparingUpdate)
		s.stays(2*time.Second, func(g Gomega) { g.Expect(imageOf(*s.pod(pod))).To(Equal(webV1)) })
		s.label(pod, map[string]string{hookLabel: "false"})
		s.reaches(pod, wire.LifecycleUpdated)
		s.Expect(imageOf(*s.pod(pod))).To(Equal(webV2))
		s.Expect(s.cloneSet("web").Status.AvailableReplicas).To(BeZero())
		s.label(pod, map[string]string{hookLabel: "true"})
		s.settle("web")
	})
}

func TestDeleteHook(t *testing.T) {
	t.Parallel()
	assess(t, "LC-13, LC-14, CS-86: a pod to be deleted waits for the user, and is replaced after that", func(s *scene) {
		s.create(web("web", 2, hooked(func(l *v1beta1.Lifecycle, hook *v1beta1.LifecycleHook) { l.PreDelete = hook })))
		s.settle("web")
		names := named(s.pods("web"))
		s.label(names[0], map[string]string{wire.LabelSpecifiedDelete: "true"})
		s.reaches(names[0], wire.LifecyclePreparingDelete)
		s.stays(3*time.Second, func(g Gomega) { g.Expect(named(s.pods("web"))).To(ConsistOf(names)) })
		s.label(names[0], map[string]string{hookLabel: "false"})
		s.eventually(aWhile, func(g Gomega) {
			have := named(s.pods("web"))
			g.Expect(have).To(HaveLen(2))
			g.Expect(have).To(ContainElement(names[1]))
			g.Expect(have).NotTo(ContainElement(names[0]))
		})
		s.settle("web")
	})
	assess(t, "LC-15, CS-76: a scale-in that is taken back takes the pod back", func(s *scene) {
		s.create(web("web", 2, hooked(func(l *v1beta1.Lifecycle, hook *v1beta1.LifecycleHook) { l.PreDelete = hook })))
		s.settle("web")
		names := named(s.pods("web"))
		s.edit(s.setReplicas(1))
		s.eventually(aWhile, func(g Gomega) {
			states := map[string]int{}
			for _, p := range s.pods("web") {
				states[p.Labels[wire.LabelLifecycleState]]++
			}
			g.Expect(states).To(HaveKeyWithValue(string(wire.LifecyclePreparingDelete), 1))
		})
		s.edit(s.setReplicas(2))
		s.settle("web")
		s.Expect(named(s.pods("web"))).To(Equal(names))
	})
}

func TestOnDelete(t *testing.T) {
	t.Parallel()
	assess(t, "CS-125: OnDelete updates no pod, and those that replace deleted ones are new", func(s *scene) {
		s.create(web("web", 3, func(set *v1beta1.CloneSet) {
			set.Spec.UpdateStrategy = v1beta1.CloneSetUpdateStrategy{Type: v1beta1.OnDeleteCloneSetUpdateStrategyType}
		}))
		s.settle("web")
		names := named(s.pods("web"))
		s.setImage(webV2)
		s.stays(4*time.Second, func(g Gomega) { g.Expect(s.withImage(webV2)).To(BeZero()) })
		s.Expect(client.IgnoreNotFound(s.Delete(s.ctx, s.pod(names[0])))).To(Succeed())
		s.eventually(aWhile, func(g Gomega) {
			g.Expect(s.withImage(webV2)).To(Equal(1))
			set := s.cloneSet("web")
			g.Expect(set.Status.AvailableReplicas).To(BeEquivalentTo(3))
			g.Expect(set.Status.UpdatedReplicas).To(BeEquivalentTo(1))
		})
		s.edit(s.setReplicas(1))
		s.eventually(aWhile, func(g Gomega) {
			pods := s.pods("web")
			g.Expect(pods).To(HaveLen(1))
			g.Expect(imageOf(pods[0])).To(Equal(webV2), "old pods go first")
		})
	})
}

func TestPaused(t *testing.T) {
	t.Parallel()
	assess(t, "CS-105, IP-69: a paused set gets its pods ready and updates none", func(s *scene) {
		s.create(web("web", 2, rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) { r.Paused = true })))
		s.settle("web")
		s.setImage(webV2)
		s.stays(3*time.Second, func(g Gomega) { g.Expect(s.withImage(webV2)).To(BeZero()) })
		s.edit(rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) { r.Paused = false }))
		s.settle("web")
		s.Expect(s.pods("web")).To(HaveEach(HaveField("Spec.Containers", HaveEach(HaveField("Image", webV2)))))
		s.Expect(s.pods("web")).To(HaveEach(HaveField("Status.Phase", corev1.PodRunning)))
	})
}
