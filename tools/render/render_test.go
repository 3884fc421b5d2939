package render_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const (
	namespace      = "flotilla-system"
	defaultOverlay = "../../deploy/overlays/default"
)

// object is one rendered object, decoded where a test looks into it.
type object struct {
	kind, name, namespace string
	labels                map[string]string
	yaml                  []byte
}

func (o object) String() string { return o.kind + " " + o.name }

// workload is what a Deployment and a DaemonSet have in common.
type workload struct {
	object
	template corev1.PodTemplateSpec
	selector *metav1.LabelSelector
	replicas int32
}

func render(t *testing.T, dir string) []object {
	t.Helper()
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var objects []object
	for _, r := range rendered.Resources() {
		data, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object{kind: r.GetKind(), name: r.GetName(), namespace: r.GetNamespace(), labels: r.GetLabels(), yaml: data})
	}
	return objects
}

func decode[T any](t *testing.T, o object) T {
	t.Helper()
	var into T
	if err := yaml.UnmarshalStrict(o.yaml, &into); err != nil {
		t.Fatalf("%s: %v", o, err)
	}
	return into
}

func workloads(t *testing.T, objects []object) []workload {
	t.Helper()
	var found []workload
	for _, o := range objects {
		switch o.kind {
		case "Deployment":
			d := decode[appsv1.Deployment](t, o)
			found = append(found, workload{object: o, template: d.Spec.Template, selector: d.Spec.Selector, replicas: *d.Spec.Replicas})
		case "DaemonSet":
			d := decode[appsv1.DaemonSet](t, o)
			found = append(found, workload{object: o, template: d.Spec.Template, selector: d.Spec.Selector})
		}
	}
	return found
}

func TestDefaultOverlayHasExactlyItsParts(t *testing.T) {
	var got []string
	for _, o := range render(t, defaultOverlay) {
		switch o.kind {
		case "Namespace", "CustomResourceDefinition", "Deployment", "DaemonSet", "Service", "ServiceAccount",
			"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
			got = append(got, o.String())
		}
	}
	slices.Sort(got)
	want := []string{
		"CustomResourceDefinition clonesets.apps.kruise.io",
		"DaemonSet kruise-daemon",
		"Deployment kruise-webhook",
		"Deployment kruise-workloads",
		"MutatingWebhookConfiguration kruise-mutating-webhook-configuration",
		"Namespace flotilla-system",
		"Service kruise-webhook-service",
		"ServiceAccount kruise-daemon",
		"ServiceAccount kruise-webhook",
		"ServiceAccount kruise-workloads",
		"ValidatingWebhookConfiguration kruise-validating-webhook-configuration",
	}
	if !slices.Equal(got, want) {
		t.Errorf("DEP-23, DEP-196: rendered\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestWorkloadsAreComplete(t *testing.T) {
	objects := render(t, defaultOverlay)
	for _, w := range workloads(t, objects) {
		t.Run(w.String(), func(t *testing.T) {
			spec := w.template.Spec
			for _, c := range spec.Containers {
				if c.LivenessProbe == nil {
					t.Errorf("DKP-16: container %s has no liveness probe", c.Name)
				}
				if c.ReadinessProbe == nil && w.kind == "Deployment" {
					t.Errorf("DEP-29: container %s has no readiness probe", c.Name)
				}
				if c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() {
					t.Errorf("DKP-19: container %s requests no CPU or memory", c.Name)
				}
				if !c.Resources.Limits.Cpu().IsZero() {
					t.Errorf("DKP-5: container %s has a CPU limit", c.Name)
				}
				if !strings.HasPrefix(c.Image, "flotilla/") || !strings.HasSuffix(c.Image, ":dev") {
					t.Errorf("image of container %s is %s", c.Name, c.Image)
				}
			}
			if w.namespace != namespace {
				t.Errorf("is in namespace %q", w.namespace)
			}
			if w.labels["app.kubernetes.io/part-of"] != "flotilla" || w.template.Labels["control-plane"] != w.name {
				t.Errorf("DEP-196: labels %v, of pods %v", w.labels, w.template.Labels)
			}
			if spec.PriorityClassName == "" {
				t.Error("DKP-17: has no priority class")
			}
			if !hasObject(objects, "ServiceAccount", spec.ServiceAccountName) {
				t.Errorf("service account %q does not exist", spec.ServiceAccountName)
			}
			if w.kind == "Deployment" {
				checkReplicas(t, objects, w)
			}
		})
	}
}

// checkReplicas demands what keeps a service up while nodes and versions change.
func checkReplicas(t *testing.T, objects []object, w workload) {
	t.Helper()
	if w.replicas < 2 {
		t.Errorf("DEP-58: %d replicas", w.replicas)
	}
	if w.template.Spec.Affinity == nil || w.template.Spec.Affinity.PodAntiAffinity == nil {
		t.Error("DEP-33: replicas may share a node without need")
	}
	rolling := decode[appsv1.Deployment](t, w.object).Spec.Strategy.RollingUpdate
	if rolling == nil || rolling.MaxUnavailable == nil || rolling.MaxUnavailable.String() != "0" {
		t.Error("DEP-184, WH-144: a roll-out may leave fewer ready replicas than before")
	}
	guarded := slices.ContainsFunc(objects, func(o object) bool {
		if o.kind != "PodDisruptionBudget" {
			return false
		}
		selector, err := metav1.LabelSelectorAsSelector(decode[policyv1.PodDisruptionBudget](t, o).Spec.Selector)
		return err == nil && !selector.Empty() && selector.Matches(labels.Set(w.template.Labels))
	})
	if !guarded {
		t.Error("DKP-18: has no PodDisruptionBudget")
	}
}

func TestPodsAreRestricted(t *testing.T) {
	for _, w := range workloads(t, render(t, defaultOverlay)) {
		problems := restricted(w.template.Spec)
		if w.name == "kruise-daemon" {
			// DEP-43, DEP-44: the runtime's socket is on the host and belongs to root.
			problems = slices.DeleteFunc(problems, func(p string) bool {
				return p == "mounts the host" || strings.HasPrefix(p, "may run as root") || p == "uses the host's network"
			})
		}
		for _, problem := range problems {
			t.Errorf("DEP-32: %s %s", w, problem)
		}
	}
}

// restricted returns what in a pod breaks the restricted pod security standard, and whether a file system
// is writable, which the standard does not ask.
func restricted(spec corev1.PodSpec) []string {
	var problems []string
	report := func(broken bool, problem string) {
		if broken {
			problems = append(problems, problem)
		}
	}
	report(spec.HostNetwork, "uses the host's network")
	report(spec.HostPID || spec.HostIPC, "uses the host's processes")
	report(slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.HostPath != nil }), "mounts the host")
	pod := spec.SecurityContext
	if pod == nil {
		pod = &corev1.PodSecurityContext{}
	}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		own := c.SecurityContext
		if own == nil {
			own = &corev1.SecurityContext{}
		}
		in := " in container " + c.Name
		report(!isTrue(pod.RunAsNonRoot) && !isTrue(own.RunAsNonRoot), "may run as root"+in)
		report(!seccomp(pod.SeccompProfile) && !seccomp(own.SeccompProfile), "has no seccomp profile"+in)
		report(own.AllowPrivilegeEscalation == nil || *own.AllowPrivilegeEscalation, "may gain privileges"+in)
		report(isTrue(own.Privileged), "is privileged"+in)
		report(!isTrue(own.ReadOnlyRootFilesystem), "may write its file system"+in)
		report(own.Capabilities == nil || !slices.Contains(own.Capabilities.Drop, "ALL"), "keeps capabilities"+in)
		report(own.Capabilities != nil && len(own.Capabilities.Add) > 0, "adds capabilities"+in)
	}
	return problems
}

func isTrue(b *bool) bool { return b != nil && *b }

func seccomp(p *corev1.SeccompProfile) bool {
	return p != nil && p.Type == corev1.SeccompProfileTypeRuntimeDefault
}

func TestRestrictedFindsAnOpenPod(t *testing.T) {
	problems := restricted(corev1.PodSpec{
		HostNetwork: true, HostPID: true,
		Volumes:    []corev1.Volume{{VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}}},
		Containers: []corev1.Container{{Name: "c"}},
	})
	if len(problems) != 8 {
		t.Errorf("found %d problems in a pod without any restriction: %v", len(problems), problems)
	}
}

// rules is a role of either scope.
type rules struct {
	object
	rules []rbacv1.PolicyRule
}

func roles(t *testing.T, objects []object) []rules {
	t.Helper()
	var found []rules
	for _, o := range objects {
		switch o.kind {
		case "ClusterRole":
			found = append(found, rules{o, decode[rbacv1.ClusterRole](t, o).Rules})
		case "Role":
			found = append(found, rules{o, decode[rbacv1.Role](t, o).Rules})
		}
	}
	return found
}

func TestRolesAskForNoMoreThanTheyNeed(t *testing.T) {
	for _, role := range roles(t, render(t, defaultOverlay)) {
		for _, rule := range role.rules {
			for _, list := range [][]string{rule.APIGroups, rule.Resources, rule.Verbs, rule.NonResourceURLs} {
				if slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, "*") }) {
					t.Errorf("DEP-213: %s has a wildcard in %v", role, rule)
				}
			}
			if role.kind == "ClusterRole" && slices.Contains(rule.Resources, "secrets") {
				t.Errorf("DEP-198: %s reads Secrets cluster-wide", role)
			}
			for _, verb := range []string{"escalate", "bind", "impersonate"} {
				if slices.Contains(rule.Verbs, verb) {
					t.Errorf("%s may %s", role, verb)
				}
			}
		}
	}
}

func TestBindingsPointAtWhatExists(t *testing.T) {
	objects := render(t, defaultOverlay)
	bound := make(map[string]bool)
	for _, o := range objects {
		if o.kind != "ClusterRoleBinding" && o.kind != "RoleBinding" {
			continue
		}
		binding := decode[rbacv1.RoleBinding](t, object{kind: o.kind, name: o.name, yaml: o.yaml}) // both have the same fields
		if binding.RoleRef.Kind == "" || !hasObject(objects, binding.RoleRef.Kind, binding.RoleRef.Name) {
			t.Errorf("%s refers to %s %s, which does not exist", o, binding.RoleRef.Kind, binding.RoleRef.Name)
		}
		bound[fmt.Sprint(binding.RoleRef.Kind, " ", binding.RoleRef.Name)] = true
		for _, subject := range binding.Subjects {
			if subject.Kind != "ServiceAccount" || subject.Namespace != namespace || !hasObject(objects, "ServiceAccount", subject.Name) {
				t.Errorf("%s binds %s %s/%s, which does not exist", o, subject.Kind, subject.Namespace, subject.Name)
			}
		}
	}
	for _, role := range roles(t, objects) {
		aggregated := slices.ContainsFunc([]string{"view", "edit", "admin"}, func(to string) bool {
			return role.labels["rbac.authorization.k8s.io/aggregate-to-"+to] == "true"
		})
		if !bound[role.String()] && !aggregated {
			t.Errorf("%s is bound to nobody", role)
		}
	}
}

func TestEveryLeaseHasItsRights(t *testing.T) {
	objects := render(t, defaultOverlay)
	for _, w := range workloads(t, objects) {
		if w.name == "kruise-daemon" || w.name == "kruise-webhook" {
			continue // they do not elect a leader of this name
		}
		allowed := slices.ContainsFunc(roles(t, objects), func(role rules) bool {
			return role.kind == "Role" && role.namespace == namespace && slices.ContainsFunc(role.rules, func(rule rbacv1.PolicyRule) bool {
				return slices.Contains(rule.Resources, "leases") && slices.Contains(rule.ResourceNames, w.name) && slices.Contains(rule.Verbs, "update")
			})
		})
		if !allowed {
			t.Errorf("DEP-197: %s may not renew the lease of its name", w)
		}
	}
}

func hasObject(objects []object, kind, name string) bool {
	return slices.ContainsFunc(objects, func(o object) bool { return o.kind == kind && o.name == name })
}

func TestNamespaceAndImagesCanBeChosen(t *testing.T) {
	overlay, err := filepath.Abs(defaultOverlay)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	base, err := filepath.Rel(dir, overlay)
	if err != nil {
		t.Fatal(err)
	}
	own := "namespace: kruise-system\nresources: [" + base + "]\nimages:\n" +
		"- {name: flotilla/workloads, newName: registry.example.org/w, newTag: v1}\n" +
		"- {name: flotilla/webhook, newName: registry.example.org/h, newTag: v1}\n" +
		"- {name: flotilla/daemon, newName: registry.example.org/d, newTag: v1}\n"
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, o := range render(t, dir) {
		if strings.Contains(string(o.yaml), namespace) {
			t.Errorf("DEP-50: %s still speaks of %s", o, namespace)
		}
		if strings.Contains(string(o.yaml), "image: flotilla/") {
			t.Errorf("DEP-59: %s has an image that cannot be chosen", o)
		}
	}
}
