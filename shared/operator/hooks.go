package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/shared/gates"
)

// The objects in which the webhook service announces what it serves (DEP-18).
const (
	mutatingConfiguration   = "kruise-mutating-webhook-configuration"
	validatingConfiguration = "kruise-validating-webhook-configuration"
)

// hookCheck answers whether the webhook service serves hooks: each stands in a live configuration with
// a bundle to verify the service by, and the service has a ready endpoint.
type hookCheck struct {
	reader client.Reader
	names  []string
}

// wantedHooks returns the names of the hooks whose gates are all on.
func wantedHooks(hooks []Hook, set gates.Set) []string {
	var names []string
	for _, hook := range hooks {
		if set.AllEnabled(hook.Gates...) {
			names = append(names, hook.Name)
		}
	}
	return names
}

// unmet names what is missing, or is empty.
func (h hookCheck) unmet(ctx context.Context) string {
	if len(h.names) == 0 {
		return ""
	}
	live, err := h.liveHooks(ctx)
	if err != nil {
		return fmt.Sprintf("the webhook configurations: %v", err)
	}
	var missing []string
	services := make(map[admissionv1.ServiceReference]bool)
	for _, name := range h.names {
		target, ok := live[name]
		if !ok || len(target.CABundle) == 0 {
			missing = append(missing, name)
			continue
		}
		if target.Service != nil {
			services[admissionv1.ServiceReference{Namespace: target.Service.Namespace, Name: target.Service.Name}] = true
		}
	}
	if len(missing) > 0 {
		return "the webhook service to register " + strings.Join(missing, ", ")
	}
	for service := range services {
		ready, err := h.hasReadyEndpoint(ctx, service)
		if err != nil {
			return fmt.Sprintf("the endpoints of service %s/%s: %v", service.Namespace, service.Name, err)
		}
		if !ready {
			return fmt.Sprintf("a ready endpoint of service %s/%s", service.Namespace, service.Name)
		}
	}
	return ""
}

// liveHooks returns where the API server sends the requests of each registered hook.
func (h hookCheck) liveHooks(ctx context.Context) (map[string]admissionv1.WebhookClientConfig, error) {
	live := make(map[string]admissionv1.WebhookClientConfig)
	var mutating admissionv1.MutatingWebhookConfiguration
	if err := h.reader.Get(ctx, client.ObjectKey{Name: mutatingConfiguration}, &mutating); client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	for _, hook := range mutating.Webhooks {
		live[hook.Name] = hook.ClientConfig
	}
	var validating admissionv1.ValidatingWebhookConfiguration
	if err := h.reader.Get(ctx, client.ObjectKey{Name: validatingConfiguration}, &validating); client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	for _, hook := range validating.Webhooks {
		live[hook.Name] = hook.ClientConfig
	}
	return live, nil
}

func (h hookCheck) hasReadyEndpoint(ctx context.Context, service admissionv1.ServiceReference) (bool, error) {
	var slicesOf discoveryv1.EndpointSliceList
	err := h.reader.List(ctx, &slicesOf, client.InNamespace(service.Namespace),
		client.MatchingLabels{discoveryv1.LabelServiceName: service.Name})
	if err != nil {
		return false, err
	}
	for _, slice := range slicesOf.Items {
		if slices.ContainsFunc(slice.Endpoints, isReady) {
			return true, nil
		}
	}
	return false, nil
}

// isReady treats an unknown state as ready, as the API asks its readers to.
func isReady(endpoint discoveryv1.Endpoint) bool {
	return endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready
}
