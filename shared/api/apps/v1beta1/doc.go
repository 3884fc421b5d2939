// Package v1beta1 holds the types of group apps.kruise.io in version v1beta1: the version that is
// stored, that every controller speaks, and to which v1alpha1 is converted by the webhook service.
//
// JSON names, defaults and allowed values are a contract with existing clusters and manifests. What
// a field does is written at the field; what happens between fields is in docs/.
//
// +kubebuilder:object:generate=true
// +groupName=apps.kruise.io
package v1beta1
