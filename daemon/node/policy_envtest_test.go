package node_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/testenv"
)

// TestNodeScope shows what the daemon's account may write at the API server, with its real role and
// policy.
func TestNodeScope(t *testing.T) {
	admin := install(t)
	here, elsewhere := nodeFor(t, admin), nodeFor(t, admin)
	cfg := as(t, admin, here)
	daemon := testenv.Client(t, cfg)
	namespace := server.Namespace(t)
	pod := podOn(t, admin, here, namespace, "here")
	playKubelet(t, admin, pod, "containerd://m1")
	awaitPolicy(t, daemon, pod)

	patch := func(c client.Client, target *corev1.Pod, p client.Patch) error {
		return c.Status().Patch(t.Context(), target.DeepCopy(), p)
	}
	raw := func(body string) client.Patch {
		return client.RawPatch("application/strategic-merge-patch+json", []byte(body))
	}
	reported := annotationPatch(wire.AnnotationRuntimeContainersMeta, "x")
	other := podOn(t, admin, elsewhere, namespace, "elsewhere")
	unscheduled := podOn(t, admin, "", namespace, "unscheduled")
	unbound := testenv.Client(t, as(t, admin, ""))

	cases := []struct {
		name    string
		write   func() error
		refusal string
	}{
		{name: "IP-82: the annotation of a pod on the own node", write: func() error { return patch(daemon, pod, reported) }},
		{name: "K-15: not of a pod on another node", write: func() error { return patch(daemon, other, reported) }, refusal: "that its token names"},
		{name: "K-15: not of a pod on no node", write: func() error { return patch(daemon, unscheduled, reported) }, refusal: "that its token names"},
		{name: "K-15: not with a token that is bound to no node", write: func() error { return patch(unbound, pod, reported) }, refusal: "that its token names"},
		{name: "K-3: no condition", write: func() error {
			return patch(daemon, pod, raw(`{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`))
		}, refusal: "changes no status"},
		{name: "K-3: no phase", write: func() error { return patch(daemon, pod, raw(`{"status":{"phase":"Failed"}}`)) }, refusal: "changes no status"},
		{name: "K-3: no container status", write: func() error {
			return patch(daemon, pod, raw(`{"status":{"containerStatuses":[{"name":"main","containerID":"containerd://m2"}]}}`))
		}, refusal: "changes no status"},
		{name: "K-3: no other annotation", write: func() error { return patch(daemon, pod, annotationPatch("mine", "1")) }, refusal: "no annotation of a pod but"},
		{name: "K-3: no changed annotation", write: func() error { return patch(daemon, pod, annotationPatch("foreign", "2")) }, refusal: "no annotation of a pod but"},
		{name: "K-3: no removed annotation", write: func() error {
			return patch(daemon, pod, raw(`{"metadata":{"annotations":{"foreign":null}}}`))
		}, refusal: "no annotation of a pod but"},
		{name: "K-3: no label", write: func() error { return patch(daemon, pod, raw(`{"metadata":{"labels":{"l":"2"}}}`)) }, refusal: "no labels"},
		{name: "K-3: no finalizer", write: func() error {
			return patch(daemon, pod, raw(`{"metadata":{"finalizers":["example.com/f"]}}`))
		}, refusal: "no labels, finalizers"},
		{name: "K-3: no pod itself", write: func() error { return daemon.Patch(t.Context(), pod.DeepCopy(), reported) }, refusal: "cannot patch resource"},
		{name: "K-3: no update of the status", write: func() error { return daemon.Status().Update(t.Context(), pod.DeepCopy()) }, refusal: "cannot update resource"},
		{name: "K-3: no deletion", write: func() error { return daemon.Delete(t.Context(), pod.DeepCopy()) }, refusal: "cannot delete resource"},
		{name: "others are not concerned: the status", write: func() error {
			return patch(admin, other, raw(`{"status":{"phase":"Failed"},"metadata":{"labels":{"l":"3"}}}`))
		}},
		{name: "others are not concerned: a creation", write: func() error {
			return admin.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c"}})
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			checkRefusal(t, tc.write(), tc.refusal)
		})
	}
}

// TestNodeScopeBeyondTheRole shows that the policy holds even where somebody gives the account rights.
func TestNodeScopeBeyondTheRole(t *testing.T) {
	admin := install(t)
	here := nodeFor(t, admin)
	namespace := server.Namespace(t)
	pod := podOn(t, admin, here, namespace, "here")
	awaitPolicy(t, testenv.Client(t, as(t, admin, here)), pod)

	strong := testenv.Client(t, impersonate(t, here))
	refused := "writes nothing but the status of pods and events"
	cases := []struct {
		name    string
		write   func() error
		refusal string
	}{
		{name: "K-15: no pod itself", refusal: refused, write: func() error {
			return strong.Patch(t.Context(), pod.DeepCopy(), annotationPatch(wire.AnnotationRuntimeContainersMeta, "x"))
		}},
		{name: "K-15: no deletion", refusal: refused, write: func() error { return strong.Delete(t.Context(), pod.DeepCopy()) }},
		{name: "K-15: no creation", refusal: refused, write: func() error {
			return strong.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "s"}})
		}},
		{name: "K-15: no binding", refusal: refused, write: func() error {
			return strong.SubResource("binding").Create(t.Context(), pod.DeepCopy(), &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: here}})
		}},
		{name: "K-15: no node", refusal: refused, write: func() error {
			return strong.Patch(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: here}}, annotationPatch("a", "b"))
		}},
		{name: "K-15: events excepted", write: func() error {
			return strong.Create(t.Context(), &corev1.Event{
				ObjectMeta:     metav1.ObjectMeta{Namespace: namespace, Name: "e"},
				InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: pod.Name},
			})
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			checkRefusal(t, tc.write(), tc.refusal)
		})
	}
}

// impersonate returns a configuration that has the daemon's name and node, and every right.
func impersonate(t *testing.T, node string) *rest.Config {
	t.Helper()
	cfg := server.Config(t)
	cfg.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + systemNamespace + ":" + serviceAccount,
		Groups:   []string{"system:masters"},
		Extra:    map[string][]string{"authentication.kubernetes.io/node-name": {node}},
	}
	return cfg
}

func checkRefusal(t *testing.T, err error, refusal string) {
	t.Helper()
	switch {
	case refusal == "" && err != nil:
		t.Errorf("refused: %v", err)
	case refusal != "" && (!isRefusal(err) || !strings.Contains(err.Error(), refusal)):
		t.Errorf("got %v, want a refusal with %q", err, refusal)
	}
}

// isRefusal tells the answers of the authorizer and of a policy from other errors.
func isRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err)
}

// awaitPolicy waits until the API server enforces the policy, which it reads a moment after its creation.
func awaitPolicy(t *testing.T, daemon client.Client, pod *corev1.Pod) {
	t.Helper()
	testenv.Until(t, time.Minute, func(ctx context.Context) string {
		err := daemon.Status().Patch(ctx, pod.DeepCopy(), annotationPatch("probe", "1"), client.DryRunAll)
		if isRefusal(err) {
			return ""
		}
		return "the policy is not enforced yet"
	})
}
