package inplace

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// Gates are the feature gates that the engine obeys.
type Gates struct {
	// EnvFromMetadata restarts containers, by way of the node daemon, when a label or annotation that
	// their env reads is changed by the template (IP-21, IP-23).
	EnvFromMetadata bool
	// VerticalScaling is the gate of resource changes (IP-12, IP-75).
	VerticalScaling bool
	// RecreateOnVCTChange refuses a change between revisions with different volume claim templates
	// (IP-18).
	RecreateOnVCTChange bool
}

// Options say how the caller wants the change between two revisions to be computed.
type Options struct {
	// GraceSeconds is the time between not ready and the swap; 0 or less is no grace (IP-62).
	GraceSeconds int32
	// IgnoreVCTHash switches the check of Gates.RecreateOnVCTChange off (IP-18).
	IgnoreVCTHash bool
	Gates         Gates
}

// Change is all that has to be done to a pod of one revision to make it one of another (IP-7). The
// zero value is the change between two revisions that do not differ (IP-14).
type Change struct {
	// Images are the new images by container.
	Images map[string]string
	// RefMetadata are, by container, the labels and annotations that change and that its env reads.
	RefMetadata map[string]metav1.ObjectMeta
	// MetadataPatch is a strategic merge patch of the pod with all other changes of its labels,
	// annotations and finalizers; nil without any (IP-15).
	MetadataPatch []byte
	// EnvFromMetadata says that env of running containers changes, so that containers have to be
	// restarted by the node daemon. The pod must have the readiness gate (IP-42).
	EnvFromMetadata bool
	// GraceSeconds is how long the pod is not ready before anything but the revision label changes.
	GraceSeconds int32
}

// grace returns the record under which the change waits for the end of its grace period.
func (c *Change) grace(revision string) *wire.InPlaceGrace {
	return &wire.InPlaceGrace{
		Revision:              revision,
		ContainerImages:       c.Images,
		ContainerRefMetadata:  c.RefMetadata,
		MetaDataPatch:         c.MetadataPatch,
		UpdateEnvFromMetadata: c.EnvFromMetadata,
		GraceSeconds:          c.GraceSeconds,
	}
}

// pending are the parts of a change that are applied batch by batch.
type pending struct {
	images      map[string]string
	refMetadata map[string]metav1.ObjectMeta
}

func pendingOfChange(c *Change) pending {
	return pending{images: c.Images, refMetadata: c.RefMetadata}
}

func pendingOfState(s *wire.InPlaceState) pending {
	return pending{images: s.NextContainerImages, refMetadata: s.NextContainerRefMetadata}
}

// containers returns the sorted names of the containers that something is pending for.
func (p pending) containers() []string {
	names := []string{}
	for name := range p.images {
		names = append(names, name)
	}
	for name := range p.refMetadata {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (p pending) empty() bool { return len(p.images) == 0 && len(p.refMetadata) == 0 }

// container returns a container of the pod by name, or nil. The result points into the pod.
func container(pod *corev1.Pod, name string) *corev1.Container {
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == name {
			return &pod.Spec.Containers[i]
		}
	}
	return nil
}
