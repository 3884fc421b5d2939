package server

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/flotilla-k8s/flotilla/shared/gates"
	"github.com/flotilla-k8s/flotilla/webhook/admit"
	"github.com/flotilla-k8s/flotilla/webhook/pod"
	"github.com/flotilla-k8s/flotilla/webhook/registration"
)

const mutatePodPath = "/mutate-pod"

// ownedByOurs matches pods whose controller is one of our workloads.
const ownedByOurs = `has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(owner, ` +
	`has(owner.controller) && owner.controller && owner.apiVersion.startsWith("apps.kruise.io/"))`

// pods returns the hook on pod creation. Without gate PodWebhook there is none.
func pods(deps Deps) family {
	if !deps.Gates.Enabled(gates.PodWebhook) {
		return family{handlers: map[string]admission.Handler{}}
	}
	versions := admit.Kind[*corev1.Pod]{"v1": admit.Hub[corev1.Pod]()}
	create := admit.Mutate(versions, func(object, _ *corev1.Pod) error {
		return pod.Create(object, pod.World{Gates: deps.Gates})
	})
	return family{
		hooks:    []registration.Hook{podCreation(deps)},
		handlers: map[string]admission.Handler{mutatePodPath: create},
	}
}

// podCreation narrows the hook to the pods that some step has to see (WH-150). Pods of the cluster's own
// namespace and of ours never reach it, so both can always be started. The namespaces are named by the
// label that the API server sets itself (DKP-8).
func podCreation(deps Deps) registration.Hook {
	hook := registration.Hook{
		Name:     "mpod.kb.io",
		Path:     mutatePodPath,
		Mutating: true,
		Rules: []admissionv1.RuleWithOperations{
			rule("", "pods", []string{"v1"}, admissionv1.Create),
		},
		NamespaceSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key:      corev1.LabelMetadataName,
			Operator: metav1.LabelSelectorOpNotIn,
			Values:   []string{metav1.NamespaceSystem, deps.Namespace},
		}}},
	}
	if !deps.Gates.Enabled(gates.KruisePodReadinessGate) {
		hook.MatchConditions = []admissionv1.MatchCondition{{Name: "controlled-by-our-workload", Expression: ownedByOurs}}
	}
	return hook
}

func rule(group, resource string, versions []string, operations ...admissionv1.OperationType) admissionv1.RuleWithOperations {
	scope := admissionv1.AllScopes
	return admissionv1.RuleWithOperations{
		Operations: operations,
		Rule: admissionv1.Rule{
			APIGroups: []string{group}, APIVersions: versions, Resources: []string{resource}, Scope: &scope,
		},
	}
}
