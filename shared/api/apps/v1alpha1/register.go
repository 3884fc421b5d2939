package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of all workload kinds.
const GroupName = "apps.kruise.io"

var (
	// GroupVersion is apps.kruise.io/v1alpha1.
	GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}
	// SchemeGroupVersion is GroupVersion under the name that generated clients look for.
	SchemeGroupVersion = GroupVersion
)

// AddToScheme makes the kinds of this package known to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&CloneSet{}, &CloneSetList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// Kind returns the name of a kind qualified with the group, for error messages and owner lookups.
func Kind(kind string) schema.GroupKind { return GroupVersion.WithKind(kind).GroupKind() }

// Resource returns the name of a resource qualified with the group.
func Resource(resource string) schema.GroupResource {
	return GroupVersion.WithResource(resource).GroupResource()
}
