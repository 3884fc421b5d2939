package revision

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The defaults of the core API for pods, except those of volumes, which stand in volumes.go. They
// are filled only to compare templates and never written anywhere.

func setDefaults(t *corev1.PodTemplateSpec) {
	t.CreationTimestamp = metav1.Time{}
	setPodDefaults(&t.Spec)
	for i := range t.Spec.InitContainers {
		setContainerDefaults(&t.Spec.InitContainers[i], t.Spec.HostNetwork)
	}
	for i := range t.Spec.Containers {
		setContainerDefaults(&t.Spec.Containers[i], t.Spec.HostNetwork)
	}
	for i := range t.Spec.Volumes {
		setVolumeDefaults(&t.Spec.Volumes[i])
	}
}

func setPodDefaults(s *corev1.PodSpec) {
	fill(&s.ServiceAccountName, s.DeprecatedServiceAccount)
	s.DeprecatedServiceAccount = s.ServiceAccountName
	fill(&s.RestartPolicy, corev1.RestartPolicyAlways)
	fill(&s.DNSPolicy, corev1.DNSClusterFirst)
	fill(&s.SchedulerName, corev1.DefaultSchedulerName)
	point(&s.SecurityContext, corev1.PodSecurityContext{})
	point(&s.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	point(&s.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
}

func setContainerDefaults(c *corev1.Container, hostNetwork bool) {
	fill(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	fill(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range c.Ports {
		port := &c.Ports[i]
		fill(&port.Protocol, corev1.ProtocolTCP)
		if hostNetwork {
			fill(&port.HostPort, port.ContainerPort)
		}
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil {
			setFieldRefDefaults(from.FieldRef)
			if from.FileKeyRef != nil {
				point(&from.FileKeyRef.Optional, false)
			}
		}
	}
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		setProbeDefaults(probe)
	}
	if c.Lifecycle != nil {
		for _, handler := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if handler != nil {
				setHTTPGetDefaults(handler.HTTPGet)
			}
		}
	}
	setResourceDefaults(&c.Resources)
}

// setResourceDefaults requests what is limited and not requested, and rounds up to milli units.
func setResourceDefaults(r *corev1.ResourceRequirements) {
	roundUp(r.Limits)
	roundUp(r.Requests)
	for name, limit := range r.Limits {
		if _, found := r.Requests[name]; found {
			continue
		}
		if r.Requests == nil {
			r.Requests = corev1.ResourceList{}
		}
		r.Requests[name] = limit.DeepCopy()
	}
}

// roundUp brings quantities to the milli units that the API server stores at most.
func roundUp(list corev1.ResourceList) {
	for name, quantity := range list {
		quantity.RoundUp(resource.Milli)
		list[name] = quantity
	}
}

func setProbeDefaults(p *corev1.Probe) {
	if p == nil {
		return
	}
	fill(&p.TimeoutSeconds, 1)
	fill(&p.PeriodSeconds, 10)
	fill(&p.SuccessThreshold, 1)
	fill(&p.FailureThreshold, 3)
	setHTTPGetDefaults(p.HTTPGet)
	if p.GRPC != nil {
		point(&p.GRPC.Service, "")
	}
}

func setHTTPGetDefaults(a *corev1.HTTPGetAction) {
	if a == nil {
		return
	}
	fill(&a.Path, "/")
	fill(&a.Scheme, corev1.URISchemeHTTP)
	point(&a.Protocol, corev1.HTTPProtocolHTTP1)
}

func setFieldRefDefaults(f *corev1.ObjectFieldSelector) {
	if f != nil {
		fill(&f.APIVersion, "v1")
	}
}

// followsLatest tells whether an image names the tag latest, by name or by having neither tag nor
// digest, which makes the API server default its pull policy to Always.
func followsLatest(image string) bool {
	repository, _, digested := strings.Cut(image, "@")
	lastPart := repository[strings.LastIndexByte(repository, '/')+1:]
	_, tag, tagged := strings.Cut(lastPart, ":")
	return tag == "latest" || !tagged && !digested
}

// fill sets a value that is missing.
func fill[T comparable](at *T, value T) {
	var missing T
	if *at == missing {
		*at = value
	}
}

// point sets a pointer that is missing.
func point[T any](at **T, value T) {
	if *at == nil {
		*at = &value
	}
}
