package podtemplate

import (
	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Default fills in the template defaults of CS-25 and CS-26 in place. With hostPorts, containers on the
// host network get a host port for each container port (CS-27). Applying it twice changes nothing.
func Default(template *corev1.PodTemplateSpec, hostPorts bool) {
	spec := &template.Spec
	fill(&spec.DNSPolicy, corev1.DNSClusterFirst)
	fill(&spec.RestartPolicy, corev1.RestartPolicyAlways)
	fill(&spec.SchedulerName, corev1.DefaultSchedulerName)
	fillPointer(&spec.SecurityContext, corev1.PodSecurityContext{})
	fillPointer(&spec.TerminationGracePeriodSeconds, int64(corev1.DefaultTerminationGracePeriodSeconds))

	for i := range spec.Volumes {
		defaultVolume(&spec.Volumes[i])
	}
	for i := range spec.InitContainers {
		fill(&spec.InitContainers[i].ImagePullPolicy, pullPolicyByTag(spec.InitContainers[i].Image))
		defaultContainer(&spec.InitContainers[i], hostPorts && spec.HostNetwork)
	}
	for i := range spec.Containers {
		// Always, whatever the tag: wire since the first release of the reference (CS-26).
		fill(&spec.Containers[i].ImagePullPolicy, corev1.PullAlways)
		defaultContainer(&spec.Containers[i], hostPorts && spec.HostNetwork)
	}
}

// DefaultClaims fills in the defaults of volume claim templates in place: the pending phase and rounded
// quantities. volumeMode stays unset, since it would change the hash of the claims (CS-25, CS-28a).
func DefaultClaims(claims []corev1.PersistentVolumeClaim) {
	for i := range claims {
		fill(&claims[i].Status.Phase, corev1.ClaimPending)
		roundUp(claims[i].Spec.Resources.Requests)
		roundUp(claims[i].Spec.Resources.Limits)
	}
}

func defaultContainer(c *corev1.Container, hostPorts bool) {
	fill(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	fill(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range c.Ports {
		fill(&c.Ports[i].Protocol, corev1.ProtocolTCP)
		if hostPorts {
			fill(&c.Ports[i].HostPort, c.Ports[i].ContainerPort)
		}
	}
	for i := range c.Env {
		if source := c.Env[i].ValueFrom; source != nil {
			defaultFieldRef(source.FieldRef)
		}
	}
	roundUp(c.Resources.Requests)
	roundUp(c.Resources.Limits)
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		defaultProbe(probe)
	}
	if c.Lifecycle != nil {
		defaultHook(c.Lifecycle.PostStart)
		defaultHook(c.Lifecycle.PreStop)
	}
}

// defaultProbe leaves the service of a gRPC probe alone, other than the API server does in a pod.
func defaultProbe(probe *corev1.Probe) {
	if probe == nil {
		return
	}
	fill(&probe.TimeoutSeconds, 1)
	fill(&probe.PeriodSeconds, 10)
	fill(&probe.SuccessThreshold, 1)
	fill(&probe.FailureThreshold, 3)
	defaultHTTPGet(probe.HTTPGet)
}

func defaultHook(hook *corev1.LifecycleHandler) {
	if hook != nil {
		defaultHTTPGet(hook.HTTPGet)
	}
}

func defaultHTTPGet(get *corev1.HTTPGetAction) {
	if get != nil {
		fill(&get.Path, "/")
		fill(&get.Scheme, corev1.URISchemeHTTP)
	}
}

func defaultFieldRef(ref *corev1.ObjectFieldSelector) {
	if ref != nil {
		fill(&ref.APIVersion, "v1")
	}
}

// pullPolicyByTag is Kubernetes' rule: Always for tag latest and for an image without tag and digest.
// A name that cannot be parsed gets IfNotPresent, as it always did.
func pullPolicyByTag(image string) corev1.PullPolicy {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return corev1.PullIfNotPresent
	}
	tagged, hasTag := named.(reference.Tagged)
	_, hasDigest := named.(reference.Digested)
	if hasTag && tagged.Tag() == "latest" || !hasTag && !hasDigest {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

// roundUp brings quantities to whole thousandths, the finest step that the API server stores.
func roundUp(list corev1.ResourceList) {
	for name, quantity := range list {
		quantity.RoundUp(resource.Milli)
		list[name] = quantity
	}
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func fillPointer[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
