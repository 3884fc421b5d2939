package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// narrowCache keeps out of memory what no workload of ours can own: pods that carry no revision, which
// are those of Deployments and Jobs, and claims that belong to no instance.
func narrowCache(o *cache.Options) {
	o.ByObject = map[client.Object]cache.ByObject{
		&corev1.Pod{}:                   {Label: has(wire.LabelRevision)},
		&corev1.PersistentVolumeClaim{}: {Label: has(wire.LabelCloneSetInstanceID)},
	}
}

func has(label string) labels.Selector {
	requirement, err := labels.NewRequirement(label, selection.Exists, nil)
	if err != nil {
		// The label is a constant; only a misspelt one is refused.
		panic(err)
	}
	return labels.NewSelector().Add(*requirement)
}
