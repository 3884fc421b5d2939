package e2e_test

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestNamespaceDeletedDuringRollOut(t *testing.T) {
	t.Parallel()
	assess(t, "CS-23: all goes with the namespace, and the operator comes to rest", func(s *scene) {
		s.create(web("web", 4))
		s.settle("web")
		s.setImage(webV2)
		s.eventually(aWhile, func(g Gomega) { g.Expect(s.withImage(webV2)).To(BeNumerically(">=", 1)) })
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.ns}}
		s.Expect(s.Delete(s.ctx, ns)).To(Succeed())
		s.eventually(aLongWhile, func(g Gomega) {
			g.Expect(apierrors.IsNotFound(s.Get(s.ctx, client.ObjectKeyFromObject(ns), ns))).To(BeTrue())
		})
		if s.simulated {
			return // the operator's log is not in the cluster
		}
		// What is under way when the namespace goes may fail. After a moment nothing may be left to fail.
		gone := time.Now()
		s.stays(12*time.Second, func(g Gomega) {
			if time.Since(gone) > 5*time.Second {
				g.Expect(s.errorsLogged(gone.Add(4 * time.Second))).To(BeEmpty())
			}
		})
	})
}

// errorsLogged returns the errors about the test's namespace that the operator has logged since a moment.
func (s *scene) errorsLogged(since time.Time) []string {
	s.t.Helper()
	var lines []string
	for _, p := range s.systemPods(workloadsName) {
		at := metav1.NewTime(since)
		raw, err := s.core.CoreV1().Pods(systemNamespace).GetLogs(p.Name, &corev1.PodLogOptions{SinceTime: &at}).DoRaw(s.ctx)
		s.Expect(err).NotTo(HaveOccurred())
		lines = append(lines, errorLines(bytes.NewReader(raw), s.ns)...)
	}
	return lines
}

// errorLines returns the lines of severity error, which klog begins with an E, that contain a text.
func errorLines(log io.Reader, text string) []string {
	var lines []string
	for scanner := bufio.NewScanner(log); scanner.Scan(); {
		if line := scanner.Text(); strings.HasPrefix(line, "E") && strings.Contains(line, text) {
			lines = append(lines, line)
		}
	}
	return lines
}

// systemPods returns the pods of a part of Flotilla that are not being deleted.
func (s *scene) systemPods(part string) []corev1.Pod {
	s.t.Helper()
	var list corev1.PodList
	s.Expect(s.List(s.ctx, &list, client.InNamespace(systemNamespace), client.MatchingLabels{"control-plane": part})).To(Succeed())
	var active []corev1.Pod
	for _, p := range list.Items {
		if p.DeletionTimestamp == nil {
			active = append(active, p)
		}
	}
	return active
}
