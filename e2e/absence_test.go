package e2e_test

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The tests in this file take a part of Flotilla away, and so run alone.

const webhookService = "kruise-webhook-service"

func TestWebhookAbsent(t *testing.T) {
	assess(t, "WH-150: without the webhook others' pods are created, what exists can shrink, and all recovers", func(s *scene) {
		s.needsPods()
		s.create(web("web", 3))
		s.settle("web")
		s.create(web("other", 1))
		s.settle("other")
		restore := s.withoutWebhook()

		bystander := web("bystander", 1).Spec.Template
		s.create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "bystander", Labels: bystander.Labels}, Spec: bystander.Spec})
		s.scale(s.cloneSet("web"), 2)
		s.eventually(aWhile, func(g Gomega) { g.Expect(s.pods("web")).To(HaveLen(2)) })
		s.Expect(s.Delete(s.ctx, s.cloneSet("other"))).To(Succeed())
		s.eventually(aWhile, func(g Gomega) { g.Expect(s.pods("other")).To(BeEmpty()) })
		s.scale(s.cloneSet("web"), 4)

		restore()
		set := s.settle("web")
		s.Expect(set.Status.Replicas).To(BeEquivalentTo(4))
		mark := s.history.Mark()
		s.setImage(webV2)
		s.settle("web")
		s.Expect(s.since(mark).Replaced()).To(Succeed())
	})
}

// withoutWebhook takes the webhook away, and returns how to bring it back.
func (s *scene) withoutWebhook() (restore func()) {
	s.t.Helper()
	key := client.ObjectKey{Namespace: systemNamespace, Name: webhookName}
	var d appsv1.Deployment
	s.Expect(s.Get(s.ctx, key, &d)).To(Succeed())
	size := *d.Spec.Replicas
	resize := func(ctx context.Context, n int32) error {
		var d appsv1.Deployment
		if err := s.Get(ctx, key, &d); err != nil {
			return err
		}
		before := d.DeepCopy()
		d.Spec.Replicas = &n
		return s.Patch(ctx, &d, client.MergeFrom(before))
	}
	s.restoreLater(func(ctx context.Context) error { return resize(ctx, size) })
	s.Expect(resize(s.ctx, 0)).To(Succeed())
	s.eventually(aWhile, func(g Gomega) {
		g.Expect(s.systemPods(webhookName)).To(BeEmpty())
		g.Expect(s.endpoints(webhookService)).To(BeZero())
	})
	return func() {
		s.Expect(resize(s.ctx, size)).To(Succeed())
		s.allReady()
	}
}

// endpoints counts the addresses behind a Service of the system.
func (s *scene) endpoints(service string) int {
	s.t.Helper()
	var list discoveryv1.EndpointSliceList
	s.Expect(s.List(s.ctx, &list, client.InNamespace(systemNamespace),
		client.MatchingLabels{discoveryv1.LabelServiceName: service})).To(Succeed())
	n := 0
	for _, slice := range list.Items {
		n += len(slice.Endpoints)
	}
	return n
}

func TestDaemonAbsent(t *testing.T) {
	assess(t, "IP-76, IP-77: without the node agent an image update completes", func(s *scene) {
		s.needsPods()
		s.create(web("web", 2, atATime(2)))
		s.settle("web")
		restore := s.withoutDaemon()
		mark := s.history.Mark()
		s.setImage(webV2)
		s.settle("web")
		s.Expect(s.since(mark).Replaced()).To(Succeed())
		restore()
	})
}

// withoutDaemon lets the node agent run on no node, and returns how to bring it back.
func (s *scene) withoutDaemon() (restore func()) {
	s.t.Helper()
	const nowhere = "e2e.flotilla/nowhere"
	choose := func(ctx context.Context, change func(map[string]string)) error {
		var d appsv1.DaemonSet
		if err := s.Get(ctx, client.ObjectKey{Namespace: systemNamespace, Name: daemonName}, &d); err != nil {
			return err
		}
		before := d.DeepCopy()
		if d.Spec.Template.Spec.NodeSelector == nil {
			d.Spec.Template.Spec.NodeSelector = map[string]string{}
		}
		change(d.Spec.Template.Spec.NodeSelector)
		return s.Patch(ctx, &d, client.MergeFrom(before))
	}
	back := func(ctx context.Context) error {
		return choose(ctx, func(selector map[string]string) { delete(selector, nowhere) })
	}
	s.restoreLater(back)
	s.Expect(choose(s.ctx, func(selector map[string]string) { selector[nowhere] = "true" })).To(Succeed())
	s.eventually(aWhile, func(g Gomega) { g.Expect(s.systemPods(daemonName)).To(BeEmpty()) })
	return func() {
		s.Expect(back(s.ctx)).To(Succeed())
		s.allReady()
	}
}

// allReady waits until all parts of Flotilla are ready.
func (s *scene) allReady() {
	s.t.Helper()
	s.eventually(aLongWhile, func(g Gomega) {
		waiting, err := s.notReady(s.ctx)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(waiting).To(BeEmpty())
	})
}

// restoreLater brings a part back at the end of the test in any case, so that a failure does not make the
// following tests fail too.
func (s *scene) restoreLater(restore func(context.Context) error) {
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.t.Context()), aLongWhile)
		defer cancel()
		if err := restore(ctx); err != nil {
			s.t.Errorf("restoring Flotilla: %v", err)
			return
		}
		NewWithT(s.t).Eventually(func() (string, error) { return s.notReady(ctx) }).
			WithTimeout(aLongWhile).WithPolling(looking).Should(BeEmpty())
	})
}
