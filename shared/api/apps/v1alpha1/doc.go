// Package v1alpha1 holds the types of group apps.kruise.io in version v1alpha1: served for existing
// clients and manifests, converted from and to v1beta1 by the webhook service. Controllers speak
// v1beta1. Types that both versions share are those of package v1beta1.
//
// +kubebuilder:object:generate=true
// +groupName=apps.kruise.io
package v1alpha1
