package cloneset_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"

	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/testenv"
)

// TestThreeWrites counts what an image update without hooks costs at the API server: three writes of the
// pod. A write that meets a conflict with the kubelet's changes nothing there and is not counted.
func TestThreeWrites(t *testing.T) {
	g, s := NewWithT(t), newEmptyScene(t)
	writes := &podWrites{}
	s.startOperator(writes.wrap(server.Config(t)))
	const replicas = 6
	set := s.create(webSet(replicas, inPlace(3)))
	g.Eventually(s.settled(set, replicas, "web:v1")).WithTimeout(soon).Should(Succeed())
	g.Expect(writes.count.Swap(0)).To(BeEquivalentTo(2*replicas), "a pod costs its creation and one write to let it be ready")

	s.setImage(set, "web:v2")
	g.Eventually(s.settled(set, replicas, "web:v2")).WithTimeout(soon).Should(Succeed())
	updated := writes.count.Load()
	t.Logf("%d writes for the in-place update of %d pods", updated, replicas)
	g.Expect(updated).To(BeEquivalentTo(3*replicas), "an image update costs three writes a pod")
}

// podWrites counts requests that changed a pod.
type podWrites struct{ count atomic.Int32 }

func (p *podWrites) wrap(cfg *rest.Config) *rest.Config {
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(req)
			if err == nil && req.Method != http.MethodGet && resp.StatusCode < http.StatusBadRequest && strings.Contains(req.URL.Path, "/pods") {
				p.count.Add(1)
			}
			return resp, err
		})
	})
	return cfg
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// TestCrashBetweenWrites kills the operator at every one of its writes in turn, before the write arrives
// and after, and lets another one go on: the roll-out ends, no pod is recreated or made twice, no
// image is swapped before its pod is not ready.
func TestCrashBetweenWrites(t *testing.T) {
	for _, after := range []bool{false, true} {
		for n := 1; n <= 12; n++ {
			t.Run(fmt.Sprintf("write %d, carried out %v", n, after), func(t *testing.T) { crashAt(t, n, after) })
		}
	}
}

func crashAt(t *testing.T, n int, after bool) {
	t.Helper()
	g, s := NewWithT(t), newEmptyScene(t)
	cfg := server.Config(t)
	const replicas = 2
	stop := s.startOperator(cfg)
	set := s.create(webSet(replicas, inPlace(1)))
	g.Eventually(s.settled(set, replicas, "web:v1")).WithTimeout(soon).Should(Succeed())
	stop()
	before := s.uids(set)
	watcher := s.watchBudget(set, 1)

	faults := &testenv.Faults{}
	faults.Inject(testenv.Fault{Nth: n, After: after, Crash: true, Match: func(w testenv.Write) bool { return w.Resource != "events" }})
	s.startCrashing(faults.Wrap(cfg))
	s.setImage(set, "web:v2")
	// Either the operator dies at its nth write, or it is done with fewer.
	g.Eventually(func() bool { return faults.Crashed() || s.settled(set, replicas, "web:v2")() == nil }).WithTimeout(soon).Should(BeTrue())

	s.startOperator(cfg)
	g.Eventually(s.settled(set, replicas, "web:v2")).WithTimeout(soon).Should(Succeed())
	g.Expect(s.uids(set)).To(Equal(before), "no pod was recreated")
	g.Expect(s.revisions(set)).To(HaveLen(2), "no revision was made twice")
	watcher.verify()
}

// TestCrashWhileCreating kills the operator between creations: exactly the wanted pods come up.
func TestCrashWhileCreating(t *testing.T) {
	for n := 1; n <= 6; n++ {
		t.Run(fmt.Sprintf("write %d", n), func(t *testing.T) {
			g, s := NewWithT(t), newEmptyScene(t)
			faults := &testenv.Faults{}
			faults.Inject(testenv.Fault{Nth: n, After: true, Crash: true, Match: func(w testenv.Write) bool { return w.Resource != "events" }})
			s.startCrashing(faults.Wrap(server.Config(t)))
			set := s.create(webSet(4, withClaim("data"), func(c *appsv1beta1.CloneSet) { c.Spec.ScaleStrategy.EnablePVCReuse = true }))
			g.Eventually(faults.Crashed).WithTimeout(soon).Should(BeTrue())
			s.startOperator(server.Config(t))
			g.Eventually(s.settled(set, 4, "web:v1")).WithTimeout(soon).Should(Succeed())
			g.Eventually(func() int { return len(s.claimNames(set)) }).WithTimeout(soon).Should(Equal(4), "claims without a pod are taken")
		})
	}
}
