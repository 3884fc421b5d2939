package server_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1alpha1"
	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/testenv"
	"github.com/flotilla-k8s/flotilla/webhook/cert"
	"github.com/flotilla-k8s/flotilla/webhook/registration"
)

// TestService goes through the life of the service on one API server: two replicas start at once on a
// fresh cluster, serve, lose their Secret, and go down.
func TestService(t *testing.T) {
	s := install(t)
	first, second := s.start(t, "127.0.0.1", nil), s.start(t, "127.0.0.2", nil)
	replicas := []*replica{first, second}
	testenv.Until(t, patience, func(ctx context.Context) string {
		return first.unready(ctx) + second.unready(ctx)
	})

	t.Run("WH-81, WH-153: everything is registered", func(t *testing.T) { s.assertRegistered(t, replicas) })
	t.Run("WH-81: a hook of ours that somebody removes comes back", s.testRemovedHook)
	t.Run("CS-24, CS-25: defaults appear", s.testDefaults)
	t.Run("CS-30 to CS-42: bad input is refused by name", s.testRefusals)
	t.Run("CS-33, C-4: pods of others are not deleted", s.testPodsToDelete)
	t.Run("WH-130: v1alpha1 and v1beta1 are one object", s.testVersions)
	t.Run("CS-44: labelled CloneSets cannot be deleted", s.testDeletionProtection)
	t.Run("WH-58, WH-150: only pods of ours reach the service", s.testPods)
	t.Run("WH-153: a deleted Secret comes back", func(t *testing.T) { s.testSecretDeleted(t, replicas) })
	t.Run("WH-150, DKP-8: without the service", func(t *testing.T) {
		first.stop()
		second.stop()
		s.testDown(t)
	})
	t.Run("WH-136: it comes back by itself", func(t *testing.T) {
		again := s.start(t, "127.0.0.1", nil)
		testenv.Until(t, patience, again.unready)
		if err := s.Create(t.Context(), s.podOf(ownerOf(t, s.cloneSet("recovered")), "recovered")); err != nil {
			t.Error(err)
		}
	})
}

func (s *scene) assertRegistered(t *testing.T, replicas []*replica) {
	t.Helper()
	hooks := s.hooks(t.Context(), t)
	for _, name := range []string{"mpod.kb.io", "mcloneset.kb.io", "vcloneset.kb.io", "vcloneset-delete.kb.io"} {
		hook, found := hooks[name]
		if !found {
			t.Errorf("%s is missing", name)
			continue
		}
		for _, r := range replicas {
			if reason := r.untrusted(hook.CABundle); reason != "" {
				t.Errorf("%s: %s", name, reason)
			}
		}
	}
	if len(hooks) != 5 || !bytes.Contains(hooks[foreignHook].CABundle, []byte("BEGIN CERTIFICATE")) || *hooks[foreignHook].URL != "https://policy.example.org/" {
		t.Errorf("the hook of somebody else was touched, or others were added: %v", hooks)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := s.Get(t.Context(), client.ObjectKey{Name: cloneSetCRD}, &crd); err != nil {
		t.Fatal(err)
	}
	if reason := replicas[0].untrusted(crd.Spec.Conversion.Webhook.ClientConfig.CABundle); reason != "" {
		t.Errorf("conversion: %s", reason)
	}
}

func (s *scene) testRemovedHook(t *testing.T) {
	s.change(t, &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: registration.ValidatingName}}, func(o client.Object) {
		o.(*admissionv1.ValidatingWebhookConfiguration).Webhooks = nil
	})
	testenv.Until(t, patience, func(ctx context.Context) string {
		if _, back := s.hooks(ctx, t)["vcloneset.kb.io"]; !back {
			return "vcloneset.kb.io is missing"
		}
		return ""
	})
}

// settled waits until the API server calls all hooks: it learns of them by a watch of its own.
func (s *scene) settled(t *testing.T) {
	t.Helper()
	bad := s.cloneSet("")
	bad.GenerateName = "probe-"
	bad.Spec.Template.Labels = nil
	testenv.Until(t, patience, func(ctx context.Context) string {
		if err := s.Create(ctx, bad.DeepCopy(), client.DryRunAll); err == nil || !strings.Contains(err.Error(), "vcloneset.kb.io") {
			return fmt.Sprintf("a bad CloneSet gets: %v", err)
		}
		return ""
	})
}

func (s *scene) testDefaults(t *testing.T) {
	s.settled(t)
	set := s.cloneSet("defaults")
	if err := s.Create(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	if *set.Spec.Replicas != 1 || *set.Spec.RevisionHistoryLimit != 10 || rolling == nil || rolling.MaxUnavailable.StrVal != "20%" ||
		rolling.PodUpdatePolicy != v1beta1.RecreatePodUpdateStrategyType {
		t.Errorf("spec is %+v", set.Spec)
	}
	if policy := set.Spec.Template.Spec.Containers[0].ImagePullPolicy; policy != corev1.PullAlways {
		t.Errorf("CS-26: imagePullPolicy is %q", policy)
	}
}

func (s *scene) testRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*v1beta1.CloneSet)
		want   string
	}{
		{"CS-30: selector", func(set *v1beta1.CloneSet) { set.Spec.Template.Labels["app"] = "other" },
			"spec.template.metadata.labels: Invalid value: {\"app\":\"other\"}: must match spec.selector app=shop"},
		{"CS-31: container", func(set *v1beta1.CloneSet) { set.Spec.Template.Spec.Containers[0].Name = "" },
			"spec.template.spec.containers[0].name: Required value"},
		{"CS-36: maxUnavailable", rollingUpdate(func(r *v1beta1.RollingUpdateCloneSetStrategy) { r.MaxUnavailable = new(intstr.FromString("5")) }),
			"spec.updateStrategy.rollingUpdate.maxUnavailable"},
		{"CS-35: partition", rollingUpdate(func(r *v1beta1.RollingUpdateCloneSetStrategy) { r.Partition = new(intstr.FromInt32(-1)) }),
			"spec.updateStrategy.rollingUpdate.partition"},
		{"CS-35: partition that is no percentage", rollingUpdate(func(r *v1beta1.RollingUpdateCloneSetStrategy) { r.Partition = new(intstr.FromString("x%")) }),
			"spec.updateStrategy.rollingUpdate.partition"},
		{"CS-38: both zero", rollingUpdate(func(r *v1beta1.RollingUpdateCloneSetStrategy) {
			r.MaxUnavailable, r.MaxSurge = new(intstr.FromInt32(0)), new(intstr.FromInt32(0))
		}), "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: \"0\": must allow at least one pod while maxSurge allows none"},
		{"CS-40: deadline", func(set *v1beta1.CloneSet) {
			set.Spec.MinReadySeconds, set.Spec.ProgressDeadlineSeconds = 10, new(int32(10))
		}, "spec.progressDeadlineSeconds"},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := s.cloneSet("refused")
			c.change(set)
			if text := refusal(t, s.Create(t.Context(), set)); !strings.Contains(text, c.want) {
				t.Errorf("got %s\nwant %s", text, c.want)
			}
		})
	}
	t.Run("C-1: surge alone is enough", func(t *testing.T) {
		set := s.cloneSet("surge")
		rollingUpdate(func(r *v1beta1.RollingUpdateCloneSetStrategy) {
			r.MaxUnavailable, r.MaxSurge = new(intstr.FromInt32(0)), new(intstr.FromInt32(1))
		})(set)
		if err := s.Create(t.Context(), set); err != nil {
			t.Error(err)
		}
	})
	t.Run("WH-113: v1alpha1 is judged by the same rules, in its own words", func(t *testing.T) {
		set := s.alphaCloneSet("refused")
		set.Spec.UpdateStrategy.MaxUnavailable = new(intstr.FromInt32(0))
		want := "spec.updateStrategy.maxUnavailable: Invalid value: \"0\""
		if text := refusal(t, s.Create(t.Context(), set)); !strings.Contains(text, want) {
			t.Errorf("got %s\nwant %s", text, want)
		}
	})
	t.Run("CS-47: an annotation of v1alpha1 that is no setting", func(t *testing.T) {
		set := s.alphaCloneSet("refused")
		set.Annotations = map[string]string{wire.AnnotationImagePreDownloadParallelism: "50%"}
		want := "metadata.annotations[" + wire.AnnotationImagePreDownloadParallelism + "]"
		if text := refusal(t, s.Create(t.Context(), set)); !strings.Contains(text, want) {
			t.Errorf("got %s\nwant %s", text, want)
		}
	})
	t.Run("CS-42, WH-155: the selector is fixed, by the CRD already", func(t *testing.T) {
		set := s.cloneSet("fixed")
		if err := s.Create(t.Context(), set); err != nil {
			t.Fatal(err)
		}
		before := set.DeepCopy()
		set.Spec.Selector.MatchLabels["tier"] = "web"
		set.Spec.Template.Labels["tier"] = "web"
		if text := refusal(t, s.Patch(t.Context(), set, client.MergeFrom(before))); !strings.Contains(text, "spec.selector: ") {
			t.Error(text)
		}
	})
}

func (s *scene) testPodsToDelete(t *testing.T) {
	set := s.cloneSet("chooser")
	if err := s.Create(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	own, foreign := s.podOf(ownerOf(t, set), "own"), s.podOf(nil, "foreign")
	for _, pod := range []*corev1.Pod{own, foreign} {
		if err := s.Create(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
	}
	name := func(names ...string) error {
		before := set.DeepCopy()
		changed := set.DeepCopy()
		changed.Spec.ScaleStrategy.PodsToDelete = names
		return s.Patch(t.Context(), changed, client.MergeFrom(before))
	}
	if text := refusal(t, name(own.Name, foreign.Name)); !strings.Contains(text, "spec.scaleStrategy.podsToDelete[1]") {
		t.Error(text)
	}
	if err := name(own.Name, "gone"); err != nil {
		t.Errorf("C-21: own and vanished pods are refused: %v", err)
	}
}

func (s *scene) testVersions(t *testing.T) {
	alpha := s.alphaCloneSet("both")
	alpha.Spec.UpdateStrategy.Type = v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType
	if err := s.Create(t.Context(), alpha); err != nil {
		t.Fatal(err)
	}
	if alpha.Spec.UpdateStrategy.MaxUnavailable.String() != "20%" || *alpha.Spec.Replicas != 1 {
		t.Errorf("WH-98: v1alpha1 is defaulted to %+v", alpha.Spec)
	}
	var beta v1beta1.CloneSet
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(alpha), &beta); err != nil {
		t.Fatal(err)
	}
	if beta.Spec.UpdateStrategy.RollingUpdate.PodUpdatePolicy != v1beta1.InPlaceIfPossiblePodUpdateStrategyType || !beta.Spec.ScaleStrategy.EnablePVCReuse {
		t.Errorf("v1beta1 shows %+v", beta.Spec)
	}
}

func (s *scene) testDeletionProtection(t *testing.T) {
	for _, c := range []struct {
		value    string
		replicas int32
		refused  bool
	}{
		{"Always", 0, true}, {"Cascading", 2, true}, {"Cascading", 0, false}, {"Sometimes", 2, false},
	} {
		t.Run(fmt.Sprintf("%s with %d replicas", c.value, c.replicas), func(t *testing.T) {
			set := s.cloneSet("")
			set.GenerateName = "protected-"
			set.Labels = map[string]string{wire.LabelDeleteProtection: c.value}
			set.Spec.Replicas = &c.replicas
			if err := s.Create(t.Context(), set); err != nil {
				t.Fatal(err)
			}
			err := s.Delete(t.Context(), set)
			if !c.refused {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if text := refusal(t, err); !strings.Contains(text, "forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection="+c.value) {
				t.Error(text)
			}
		})
	}
}

func (s *scene) testPods(t *testing.T) {
	set := s.cloneSet("owner")
	if err := s.Create(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	before := requests(t, "/mutate-pod")
	pod := s.podOf(ownerOf(t, set), "owned")
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: wire.InPlaceUpdateReady}}
	if err := s.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	if len(pod.Spec.ReadinessGates) != 2 || pod.Spec.ReadinessGates[1].ConditionType != wire.KruisePodReady {
		t.Errorf("WH-58: readiness gates are %v", pod.Spec.ReadinessGates)
	}
	if got := requests(t, "/mutate-pod") - before; got != 1 {
		t.Errorf("one pod of ours made %v requests", got)
	}
	deployment := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "x", UID: "1", Controller: new(true)}
	notController := ownerOf(t, set)
	notController.Controller = nil
	for name, owner := range map[string]*metav1.OwnerReference{"lonely": nil, "builtin": &deployment, "follower": notController} {
		pod := s.podOf(owner, name)
		if err := s.Create(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		if len(pod.Spec.ReadinessGates) != 0 {
			t.Errorf("pod %s has readiness gates", name)
		}
	}
	if got := requests(t, "/mutate-pod") - before; got != 1 {
		t.Errorf("WH-150: pods of others made %v requests", got-1)
	}
}

func (s *scene) testSecretDeleted(t *testing.T, replicas []*replica) {
	t.Helper()
	key := client.ObjectKey{Namespace: ownNamespace, Name: "kruise-webhook-certs"}
	var old corev1.Secret
	if err := s.Get(t.Context(), key, &old); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), &old); err != nil {
		t.Fatal(err)
	}
	var failures int
	testenv.Until(t, time.Minute, func(ctx context.Context) string {
		// The way of users goes on meanwhile.
		if err := s.Create(ctx, s.cloneSet("meanwhile"), client.DryRunAll); err != nil {
			failures++
		}
		var now corev1.Secret
		if err := s.Get(ctx, key, &now); err != nil {
			return err.Error()
		}
		if bytes.Equal(now.Data["ca.crt"], old.Data["ca.crt"]) {
			return "the CA is still the old one"
		}
		for name, hook := range s.hooks(ctx, t) {
			if name != foreignHook && !bytes.Contains(hook.CABundle, now.Data["ca.crt"]) {
				return "the bundle of " + name + " lacks the new CA"
			}
		}
		for _, r := range replicas {
			if reason := r.untrusted(now.Data["ca.crt"]) + r.unready(ctx); reason != "" {
				return reason
			}
		}
		return ""
	})
	if failures > 0 {
		t.Errorf("KP-11: %d requests failed during the change of the CA", failures)
	}
}

func (s *scene) testDown(t *testing.T) {
	t.Helper()
	if err := s.Create(t.Context(), s.podOf(nil, "nobodys")); err != nil {
		t.Errorf("WH-150: a pod that nothing selects is refused: %v", err)
	}
	owner := &metav1.OwnerReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "CloneSet", Name: "owner", UID: "1", Controller: new(true)}
	if err := s.Create(t.Context(), s.podOf(owner, "ours")); err == nil || !strings.Contains(err.Error(), "mpod.kb.io") {
		t.Errorf("WH-136: a pod without its readiness gate: %v", err)
	}
	for _, namespace := range []string{metav1.NamespaceSystem, ownNamespace} {
		pod := s.podOf(owner, "")
		pod.Namespace, pod.GenerateName = namespace, "ours-"
		if err := s.Create(t.Context(), pod); err != nil {
			t.Errorf("DKP-8: in %s: %v", namespace, err)
		}
	}
	set := &v1beta1.CloneSet{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "defaults"}}
	if err := s.Delete(t.Context(), set); err != nil {
		t.Errorf("DP-11: an unprotected CloneSet cannot be deleted: %v", err)
	}
}

func (s *scene) cloneSet(name string) *v1beta1.CloneSet {
	labels := func() map[string]string { return map[string]string{"app": "shop"} }
	return &v1beta1.CloneSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: v1beta1.CloneSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels()},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels()},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "shop:1"}}},
			},
		},
	}
}

func (s *scene) alphaCloneSet(name string) *v1alpha1.CloneSet {
	hub := s.cloneSet(name)
	return &v1alpha1.CloneSet{
		ObjectMeta: hub.ObjectMeta,
		Spec:       v1alpha1.CloneSetSpec{Selector: hub.Spec.Selector, Template: hub.Spec.Template},
	}
}

func (s *scene) podOf(owner *metav1.OwnerReference, name string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "shop:1"}}},
	}
	if owner != nil {
		pod.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	return pod
}

func ownerOf(t *testing.T, set *v1beta1.CloneSet) *metav1.OwnerReference {
	t.Helper()
	if set.UID == "" {
		set.UID = "1"
	}
	return metav1.NewControllerRef(set, v1beta1.GroupVersion.WithKind("CloneSet"))
}

func rollingUpdate(modify func(*v1beta1.RollingUpdateCloneSetStrategy)) func(*v1beta1.CloneSet) {
	return func(set *v1beta1.CloneSet) {
		set.Spec.UpdateStrategy.RollingUpdate = &v1beta1.RollingUpdateCloneSetStrategy{}
		modify(set.Spec.UpdateStrategy.RollingUpdate)
	}
}

// testCA returns the certificate of some other authority.
func testCA(t *testing.T) []byte {
	t.Helper()
	data, _, err := cert.Issuer{DNSNames: []string{"policy.example.org"}}.Renew(nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return data["ca.crt"]
}
