package revision

import (
	"bytes"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Equal tells whether two revisions hold the same template. Equal bytes are enough; otherwise the
// templates are compared after Align, so that what a library or defaulting added does not count.
// Data that cannot be decoded equals nothing but the same bytes. Source: RV-2, IP-19a, P-1.
func Equal(a, b *appsv1.ControllerRevision) bool {
	if bytes.Equal(a.Data.Raw, b.Data.Raw) {
		return true
	}
	templateA, err := Template(a)
	if err != nil {
		return false
	}
	templateB, err := Template(b)
	if err != nil {
		return false
	}
	Align(templateA, templateB)
	return equality.Semantic.DeepEqual(templateA, templateB)
}

// Align brings two templates to the same form in place: both get the values that the API server
// would give their pods, and no creation time. What then differs was changed by a user.
func Align(a, b *corev1.PodTemplateSpec) {
	alignPullPolicies(a.Spec.InitContainers, b.Spec.InitContainers)
	alignPullPolicies(a.Spec.Containers, b.Spec.Containers)
	setDefaults(a)
	setDefaults(b)
}

// alignPullPolicies fills a pull policy that only one side states, if what is stated is a default.
// It looks at both sides because the default depends on the image, and a policy that was filled for
// one image stays when only the image is changed later (CS-26, CS-28).
func alignPullPolicies(a, b []corev1.Container) {
	for i := range min(len(a), len(b)) {
		switch {
		case a[i].ImagePullPolicy == "" && isDefaultPullPolicy(b[i].ImagePullPolicy, a[i].Image, b[i].Image):
			a[i].ImagePullPolicy = b[i].ImagePullPolicy
		case b[i].ImagePullPolicy == "" && isDefaultPullPolicy(a[i].ImagePullPolicy, a[i].Image, b[i].Image):
			b[i].ImagePullPolicy = a[i].ImagePullPolicy
		}
	}
}

func isDefaultPullPolicy(policy corev1.PullPolicy, images ...string) bool {
	return policy == corev1.PullAlways || policy == corev1.PullIfNotPresent && !allFollowLatest(images)
}

func allFollowLatest(images []string) bool {
	return !slices.ContainsFunc(images, func(image string) bool { return !followsLatest(image) })
}
