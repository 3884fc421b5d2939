package server

import (
	"context"

	requestv1 "k8s.io/api/admission/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1alpha1"
	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/gates"
	"github.com/flotilla-k8s/flotilla/webhook/admit"
	"github.com/flotilla-k8s/flotilla/webhook/cloneset"
	"github.com/flotilla-k8s/flotilla/webhook/protect"
	"github.com/flotilla-k8s/flotilla/webhook/registration"
)

const (
	mutateCloneSetPath   = "/mutate-apps-kruise-io-cloneset"
	validateCloneSetPath = "/validate-apps-kruise-io-cloneset"
)

// workloads is the family of CloneSet.
func workloads(deps Deps) family {
	kind := cloneSetKind()
	return family{
		hooks: cloneSetHooks(deps.Gates),
		handlers: map[string]admission.Handler{
			mutateCloneSetPath: admit.Mutate(kind, func(set, old *v1beta1.CloneSet) error {
				cloneset.Default(set, old, deps.Gates)
				return nil
			}),
			validateCloneSetPath: admit.ByOperation{
				requestv1.Create: admit.Validate(kind, deps.judgeCloneSet),
				requestv1.Update: admit.Validate(kind, deps.judgeCloneSet),
				requestv1.Delete: admit.Delete(kind, deps.judgeCloneSetDeletion),
			},
		},
		crds: []string{"clonesets." + v1beta1.GroupName},
	}
}

func cloneSetKind() admit.Kind[*v1beta1.CloneSet] {
	alpha := admit.Spoke[v1beta1.CloneSet](v1alpha1.GroupVersion.String(), v1beta1.GroupVersion.String())
	alpha.Errors = cloneset.AlphaErrors
	return admit.Kind[*v1beta1.CloneSet]{
		v1alpha1.GroupVersion.Version: alpha,
		v1beta1.GroupVersion.Version:  admit.Hub[v1beta1.CloneSet](),
	}
}

// cloneSetHooks has a hook of its own for deletion, which only labelled objects reach: without the
// service, others can still be deleted (DP-11).
func cloneSetHooks(g gates.Set) []registration.Hook {
	versions := []string{v1alpha1.GroupVersion.Version, v1beta1.GroupVersion.Version}
	write := []admissionv1.RuleWithOperations{
		rule(v1beta1.GroupName, "clonesets", versions, admissionv1.Create, admissionv1.Update),
	}
	hooks := []registration.Hook{
		{Name: "mcloneset.kb.io", Path: mutateCloneSetPath, Mutating: true, Rules: write},
		{Name: "vcloneset.kb.io", Path: validateCloneSetPath, Rules: write},
	}
	if g.Enabled(gates.ResourcesDeletionProtection) {
		hooks = append(hooks, registration.Hook{
			Name:  "vcloneset-delete.kb.io",
			Path:  validateCloneSetPath,
			Rules: []admissionv1.RuleWithOperations{rule(v1beta1.GroupName, "clonesets", versions, admissionv1.Delete)},
			ObjectSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
				Key: wire.LabelDeleteProtection, Operator: metav1.LabelSelectorOpExists,
			}}},
		})
	}
	return hooks
}

func (d Deps) judgeCloneSet(ctx context.Context, req admission.Request, set, old *v1beta1.CloneSet) (field.ErrorList, error) {
	foreign, err := foreignPods(ctx, d.Reader, set, cloneset.PodsToJudge(set, old))
	if err != nil {
		return nil, err
	}
	errs := cloneset.Validate(set, old, cloneset.World{
		Gates:           d.Gates,
		AllowPrivileged: d.AllowPrivileged,
		ForeignPods:     foreign,
	})
	if req.Kind.Version == v1alpha1.GroupVersion.Version {
		var stored map[string]string
		if old != nil {
			stored = old.Annotations
		}
		errs = append(errs, cloneset.AlphaAnnotationErrors(set.Annotations, stored)...)
	}
	return errs, nil
}

func (d Deps) judgeCloneSetDeletion(ctx context.Context, req admission.Request, set *v1beta1.CloneSet) string {
	if !d.Gates.Enabled(gates.ResourcesDeletionProtection) {
		return ""
	}
	refusal := protect.WorkloadRefusal(set, cloneset.AliveReplicas(set))
	if refusal == "" {
		return ""
	}
	err := d.Refusals.Add(protect.Refusal{Kind: req.Kind.Kind, Namespace: req.Namespace, Name: req.Name, User: req.UserInfo.Username})
	if err != nil {
		// The deletion is refused in any case; only its trace is incomplete.
		logf.FromContext(ctx).Error(err, "Recording a refused deletion failed")
	}
	return refusal
}
