package registration

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// reconcileConversion puts address and bundle into the conversion stanza of one CRD. A CRD that is not
// installed has nothing to convert, and one whose strategy is not Webhook does not want to (WH-82).
func (r *Reconciler) reconcileConversion(ctx context.Context, name string, bundle bundleOf) error {
	var live apiextensionsv1.CustomResourceDefinition
	if err := r.Client.Get(ctx, client.ObjectKey{Name: name}, &live); err != nil {
		return client.IgnoreNotFound(err)
	}
	if live.Spec.Conversion == nil || live.Spec.Conversion.Strategy != apiextensionsv1.WebhookConverter {
		return nil
	}
	ca, bundleErr := bundle(liveBundle(live.Spec.Conversion.Webhook))
	before := live.DeepCopy()
	live.Spec.Conversion.Webhook = &apiextensionsv1.WebhookConversion{
		ClientConfig:             r.Target.conversion(r.ConversionPath, ca),
		ConversionReviewVersions: reviewVersions(),
	}
	if !apiequality.Semantic.DeepEqual(before.Spec.Conversion, live.Spec.Conversion) {
		if err := r.write(ctx, before, &live); err != nil {
			return err
		}
	}
	if bundleErr != nil {
		return fmt.Errorf("checking conversion of %s: %w", name, bundleErr)
	}
	return nil
}

func liveBundle(webhook *apiextensionsv1.WebhookConversion) []byte {
	if webhook == nil || webhook.ClientConfig == nil {
		return nil
	}
	return webhook.ClientConfig.CABundle
}
