package operator

// What every operator may do cluster-wide before its controllers start. `make generate` renders these
// markers into the role of each operator; what it may do in its own namespace is written by hand beside
// that role.
//
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,resourceNames=kruise-manager,verbs=get
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations,resourceNames=kruise-mutating-webhook-configuration,verbs=get
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=kruise-validating-webhook-configuration,verbs=get
