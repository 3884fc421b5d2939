// Package podtemplate knows how a pod template inside one of our workloads is completed and judged.
//
// Default fills in the fields that the reference has always filled in (CS-25 to CS-28a) and no others,
// because the stored template is hashed into revisions: one more field would start rollouts in every
// cluster that is taken over. It is therefore written out here and does not use the defaulting of
// whatever Kubernetes library is current.
//
// Validate is the API server's own validation of a pod template. This is the only package outside tools
// that imports k8s.io/kubernetes.
package podtemplate
