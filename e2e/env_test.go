package e2e_test

import (
	"encoding/json"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
)

// reading lets the web server answer, as the name of its node, with the value of an annotation of its pod.
func reading(annotation, value string) func(*v1beta1.CloneSet) {
	return func(set *v1beta1.CloneSet) {
		set.Spec.Template.Annotations = map[string]string{annotation: value}
		c := &set.Spec.Template.Spec.Containers[0]
		c.Env = append(c.Env, corev1.EnvVar{Name: "NODE_NAME", ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['" + annotation + "']"},
		}})
	}
}

// answer asks the web server of a pod, through the API server, for what reading has put into its environment.
func (s *scene) answer(g Gomega, pod string) string {
	raw, err := s.core.CoreV1().Pods(s.ns).ProxyGet("http", pod, "8080", "/", nil).DoRaw(s.ctx)
	g.Expect(err).NotTo(HaveOccurred())
	var body struct {
		Node string `json:"node"`
	}
	g.Expect(json.Unmarshal(raw, &body)).To(Succeed())
	return body.Node
}

func TestEnvFromMetadata(t *testing.T) {
	t.Parallel()
	assess(t, "IP-20, IP-25, IP-86: a changed annotation that env refers to restarts containers once, but not by hand", func(s *scene) {
		s.needsKubelet("only a node agent can restart a container for its environment")
		s.create(web("web", 2, atATime(2), reading("colour", "red")))
		s.settle("web")
		for _, p := range s.pods("web") {
			s.Expect(s.answer(s, p.Name)).To(Equal("red"))
		}
		byHand := s.pods("web")[0]
		before := byHand.DeepCopy()
		metav1.SetMetaDataAnnotation(&byHand.ObjectMeta, "colour", "blue")
		mark := s.history.Mark()
		s.Expect(s.Patch(s.ctx, &byHand, client.MergeFrom(before))).To(Succeed())
		s.stays(6*time.Second, func(g Gomega) { g.Expect(s.answer(g, byHand.Name)).To(Equal("red")) })
		s.Expect(s.since(mark).Restarted()).To(BeEmpty())

		s.edit(func(set *v1beta1.CloneSet) { set.Spec.Template.Annotations["colour"] = "green" })
		s.settle("web")
		for _, p := range s.pods("web") {
			s.Expect(s.answer(s, p.Name)).To(Equal("green"))
			s.Expect(p.Status.ContainerStatuses[0].RestartCount).To(BeEquivalentTo(1))
		}
		s.Expect(s.since(mark).Replaced()).To(Succeed())
	})
	assess(t, "IP-86: image and env together take one restart", func(s *scene) {
		s.needsKubelet("only a node agent can tell the environment of a container")
		s.create(web("web", 1, reading("colour", "red")))
		s.settle("web")
		mark := s.history.Mark()
		s.edit(func(set *v1beta1.CloneSet) {
			set.Spec.Template.Annotations["colour"] = "green"
			set.Spec.Template.Spec.Containers[0].Image = webV2
		})
		s.settle("web")
		p := s.pods("web")[0]
		s.Expect(s.answer(s, p.Name)).To(Equal("green"))
		s.Expect(imageOf(p)).To(Equal(webV2))
		s.Expect(p.Status.ContainerStatuses[0].RestartCount).To(BeEquivalentTo(1))
		s.Expect(s.since(mark).Replaced()).To(Succeed())
	})
}
