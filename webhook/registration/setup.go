package registration

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// CacheOptions restricts the cache to what Reconciler reads: one Secret, two configurations, and of the
// CRDs all but their schemas.
func CacheOptions(secret client.ObjectKey) cache.Options {
	named := func(name string) fields.Selector { return fields.OneTermEqualSelector("metadata.name", name) }
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Secret{}: {Namespaces: map[string]cache.Config{
				secret.Namespace: {FieldSelector: named(secret.Name)},
			}},
			&admissionv1.MutatingWebhookConfiguration{}:   {Field: named(MutatingName)},
			&admissionv1.ValidatingWebhookConfiguration{}: {Field: named(ValidatingName)},
			&apiextensionsv1.CustomResourceDefinition{}:   {Transform: stripSchemas},
		},
	}
}

// stripSchemas drops what makes CRDs large.
func stripSchemas(object any) (any, error) {
	if crd, ok := object.(*apiextensionsv1.CustomResourceDefinition); ok {
		crd.ManagedFields = nil
		crd.Annotations = nil
		for i := range crd.Spec.Versions {
			crd.Spec.Versions[i].Schema = nil
		}
	}
	return object, nil
}

// SetupWithManager starts r with the manager: once at the start, and whenever something it writes, or
// the certificate, changes or goes. Every replica runs it (WH-78).
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	all := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		if crd, isCRD := object.(*apiextensionsv1.CustomResourceDefinition); isCRD && !slices.Contains(r.CRDs, crd.Name) {
			return nil
		}
		return []reconcile.Request{{}}
	})
	start := source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		queue.Add(reconcile.Request{})
		return nil
	})
	return ctrl.NewControllerManagedBy(mgr).
		Named("webhook-registration").
		WithOptions(controller.Options{NeedLeaderElection: new(false)}).
		WatchesRawSource(start).
		Watches(&corev1.Secret{}, all).
		Watches(&admissionv1.MutatingWebhookConfiguration{}, all).
		Watches(&admissionv1.ValidatingWebhookConfiguration{}, all).
		Watches(&apiextensionsv1.CustomResourceDefinition{}, all).
		Complete(r)
}
