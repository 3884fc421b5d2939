package e2e_test

import (
	"context"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"github.com/flotilla-k8s/flotilla/e2e/history"
	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// How long things may take, and how often one looks.
const (
	// aWhile is enough for one step of a few pods on a busy machine.
	aWhile = 60 * time.Second
	// aLongWhile is enough for a whole roll-out.
	aLongWhile = 2 * time.Minute
	// looking is the time between two looks.
	looking = 200 * time.Millisecond
)

// scene is what one test has: a namespace of its own, and the history of all pods in it.
type scene struct {
	*WithT
	*cluster
	t       *testing.T
	ctx     context.Context
	ns      string
	history *history.Pods
}

// assess runs a test in a namespace of its own. The name holds the rules that it comes from, a colon, and what
// should hold.
func assess(t *testing.T, name string, body func(*scene)) {
	t.Helper()
	rules, claim, found := strings.Cut(name, ": ")
	if !found {
		t.Fatalf("no rule in the name %q", name)
	}
	feature := features.New(rules).Assess(claim, func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
		t.Helper()
		c, ok := ctx.Value(clusterKey{}).(*cluster)
		if !ok {
			t.Fatal("the environment has no cluster")
		}
		body(newScene(t, c))
		return ctx
	})
	testenv.Test(t, feature.Feature())
}

func newScene(t *testing.T, c *cluster) *scene {
	t.Helper()
	s := &scene{WithT: NewWithT(t), cluster: c, t: t, ctx: t.Context(), history: &history.Pods{}}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}
	s.Expect(c.Create(s.ctx, ns)).To(Succeed())
	s.ns = ns.Name
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), aWhile)
		defer cancel()
		if t.Failed() {
			s.explain(ctx)
		}
		if err := client.IgnoreNotFound(c.Delete(ctx, ns)); err != nil {
			t.Errorf("deleting namespace %s: %v", ns.Name, err)
		}
	})
	s.follow()
	return s
}

// needsKubelet skips the test where no node has a kubelet.
func (s *scene) needsKubelet(why string) {
	s.t.Helper()
	if s.simulated {
		s.t.Skip("needs a real kubelet: " + why)
	}
}

// needsPods skips the test where Flotilla's parts are processes of the host instead of pods.
func (s *scene) needsPods() {
	s.t.Helper()
	if s.simulated {
		s.t.Skip("needs Flotilla's parts to be pods, and simulated nodes run none")
	}
}

// eventually waits until an assertion holds.
func (s *scene) eventually(limit time.Duration, assertion func(g Gomega)) {
	s.t.Helper()
	s.Eventually(assertion).WithContext(s.ctx).WithTimeout(limit).WithPolling(looking).Should(Succeed())
}

// stays checks that an assertion holds all the time.
func (s *scene) stays(span time.Duration, assertion func(g Gomega)) {
	s.t.Helper()
	s.Consistently(assertion).WithContext(s.ctx).WithTimeout(span).WithPolling(looking).Should(Succeed())
}

// create makes an object in the namespace of the test.
func (s *scene) create(o client.Object) {
	s.t.Helper()
	o.SetNamespace(s.ns)
	s.Expect(s.Create(s.ctx, o)).To(Succeed())
}

func (s *scene) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: s.ns, Name: name}
}

// cloneSet reads a CloneSet.
func (s *scene) cloneSet(name string) *v1beta1.CloneSet {
	s.t.Helper()
	set := &v1beta1.CloneSet{}
	s.Expect(s.Get(s.ctx, s.key(name), set)).To(Succeed())
	return set
}

// tryEdit changes the CloneSet web as a user's patch would, and returns what the API server says.
func (s *scene) tryEdit(change func(*v1beta1.CloneSet)) error {
	s.t.Helper()
	set := s.cloneSet("web")
	before := set.DeepCopy()
	change(set)
	return s.Patch(s.ctx, set, client.MergeFrom(before))
}

// edit changes the CloneSet web.
func (s *scene) edit(change func(*v1beta1.CloneSet)) {
	s.t.Helper()
	s.Expect(s.tryEdit(change)).To(Succeed())
}

// setImage changes the image of the CloneSet web.
func (s *scene) setImage(image string) {
	s.t.Helper()
	s.edit(func(set *v1beta1.CloneSet) { set.Spec.Template.Spec.Containers[0].Image = image })
}

// pods returns the pods of a CloneSet that are not being deleted, by name.
func (s *scene) pods(set string) []corev1.Pod {
	s.t.Helper()
	var list corev1.PodList
	s.Expect(s.List(s.ctx, &list, client.InNamespace(s.ns), client.MatchingLabels{"app": set})).To(Succeed())
	var active []corev1.Pod
	for _, p := range list.Items {
		if p.DeletionTimestamp == nil {
			active = append(active, p)
		}
	}
	return active
}

// pod reads one pod.
func (s *scene) pod(name string) *corev1.Pod {
	s.t.Helper()
	pod := &corev1.Pod{}
	s.Expect(s.Get(s.ctx, s.key(name), pod)).To(Succeed())
	return pod
}

// label sets labels of a pod by hand.
func (s *scene) label(pod string, labels map[string]string) {
	s.t.Helper()
	p := s.pod(pod)
	before := p.DeepCopy()
	for key, value := range labels {
		metav1.SetMetaDataLabel(&p.ObjectMeta, key, value)
	}
	s.Expect(s.Patch(s.ctx, p, client.MergeFrom(before))).To(Succeed())
}

// settle waits until a CloneSet has all its pods at the wanted revision, available, and out of any update.
func (s *scene) settle(name string) *v1beta1.CloneSet {
	s.t.Helper()
	var set *v1beta1.CloneSet
	s.eventually(aLongWhile, func(g Gomega) {
		set = &v1beta1.CloneSet{}
		g.Expect(s.Get(s.ctx, s.key(name), set)).To(Succeed())
		want := *set.Spec.Replicas
		g.Expect(set.Status.ObservedGeneration).To(Equal(set.Generation), "observedGeneration")
		g.Expect(set.Status.Replicas).To(Equal(want), "replicas")
		g.Expect(set.Status.AvailableReplicas).To(Equal(want), "availableReplicas")
		g.Expect(set.Status.UpdatedAvailableReplicas).To(BeNumerically(">=", set.Status.ExpectedUpdatedReplicas), "updatedAvailableReplicas")
		for _, p := range s.pods(name) {
			g.Expect(history.Ready(&p)).To(BeTrue(), "pod %s is ready", p.Name)
			g.Expect(p.Labels).To(HaveKeyWithValue(wire.LabelLifecycleState, string(wire.LifecycleNormal)), "state of pod %s", p.Name)
		}
	})
	return set
}

// since returns what happened from a mark on. The pods are read first, so that nothing is missing that the
// caller has seen.
func (s *scene) since(mark int) history.Span {
	s.t.Helper()
	var list corev1.PodList
	s.Expect(s.List(s.ctx, &list, client.InNamespace(s.ns))).To(Succeed())
	s.eventually(aWhile, func(g Gomega) {
		for _, p := range list.Items {
			g.Expect(s.history.Saw(&p)).To(BeTrue(), "the watch has told of pod %s", p.Name)
		}
	})
	return s.history.Since(mark)
}

// named returns the names of pods.
func named(pods []corev1.Pod) []string {
	var names []string
	for _, p := range pods {
		names = append(names, p.Name)
	}
	return names
}

// imageOf returns the image that a pod's only container should run, without the registry.
func imageOf(p corev1.Pod) string {
	return strings.TrimPrefix(p.Spec.Containers[0].Image, "docker.io/")
}
