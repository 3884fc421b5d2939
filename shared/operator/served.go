package operator

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/flotilla-k8s/flotilla/shared/gates"
)

// servedKinds answers whether the API server serves a kind now. It asks every time: a REST mapper would
// remember.
type servedKinds struct {
	discovery.ServerResourcesInterface
}

// has reports whether the kind is served; the empty kind always is.
func (s servedKinds) has(kind schema.GroupVersionKind) (bool, error) {
	if kind.Empty() {
		return true, nil
	}
	list, err := s.ServerResourcesForGroupVersion(kind.GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("asking for the resources of %s: %w", kind.GroupVersion(), err)
	}
	return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Kind == kind.Kind }), nil
}

// wantedControllers returns the controllers whose gates are all on.
func wantedControllers(controllers []Controller, set gates.Set) []Controller {
	return slices.DeleteFunc(slices.Clone(controllers), func(c Controller) bool { return !set.AllEnabled(c.Gates...) })
}
