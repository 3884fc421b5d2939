package registration

import (
	"context"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// bundleOf returns the bundle to write where live stands now.
type bundleOf func(live []byte) ([]byte, error)

// reconcileMutating brings our hooks in the mutating configuration up to date.
func (r *Reconciler) reconcileMutating(ctx context.Context, bundle bundleOf) error {
	var live admissionv1.MutatingWebhookConfiguration
	if err := r.Client.Get(ctx, client.ObjectKey{Name: MutatingName}, &live); err != nil {
		return fmt.Errorf("reading %s: %w", MutatingName, err)
	}
	bundles := map[string][]byte{}
	for _, hook := range live.Webhooks {
		bundles[hook.Name] = hook.ClientConfig.CABundle
	}
	var wanted []admissionv1.MutatingWebhook
	var errs []error
	for _, hook := range r.Hooks {
		if hook.Mutating {
			ca, err := bundle(bundles[hook.Name])
			errs = append(errs, atHook(hook.Name, err))
			wanted = append(wanted, hook.mutating(r.Target, ca))
		}
	}
	before := live.DeepCopy()
	live.Webhooks = merge(live.Webhooks, wanted, func(w admissionv1.MutatingWebhook) string { return w.Name })
	if !apiequality.Semantic.DeepEqual(before.Webhooks, live.Webhooks) {
		errs = append(errs, r.write(ctx, before, &live))
	}
	return errors.Join(errs...)
}

// reconcileValidating brings our hooks in the validating configuration up to date.
func (r *Reconciler) reconcileValidating(ctx context.Context, bundle bundleOf) error {
	var live admissionv1.ValidatingWebhookConfiguration
	if err := r.Client.Get(ctx, client.ObjectKey{Name: ValidatingName}, &live); err != nil {
		return fmt.Errorf("reading %s: %w", ValidatingName, err)
	}
	bundles := map[string][]byte{}
	for _, hook := range live.Webhooks {
		bundles[hook.Name] = hook.ClientConfig.CABundle
	}
	var wanted []admissionv1.ValidatingWebhook
	var errs []error
	for _, hook := range r.Hooks {
		if !hook.Mutating {
			ca, err := bundle(bundles[hook.Name])
			errs = append(errs, atHook(hook.Name, err))
			wanted = append(wanted, hook.validating(r.Target, ca))
		}
	}
	before := live.DeepCopy()
	live.Webhooks = merge(live.Webhooks, wanted, func(w admissionv1.ValidatingWebhook) string { return w.Name })
	if !apiequality.Semantic.DeepEqual(before.Webhooks, live.Webhooks) {
		errs = append(errs, r.write(ctx, before, &live))
	}
	return errors.Join(errs...)
}

func atHook(name string, err error) error {
	if err != nil {
		return fmt.Errorf("checking hook %s: %w", name, err)
	}
	return nil
}

// write sends the difference. It is locked, because lists of hooks are replaced whole and somebody else
// may have added one since.
func (r *Reconciler) write(ctx context.Context, before, after client.Object) error {
	lock := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, after, lock); err != nil {
		return fmt.Errorf("writing %s: %w", after.GetName(), err)
	}
	return nil
}
