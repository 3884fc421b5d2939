package inplace

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
)

// waitsForImage says what is missing until the status of a container proves that it runs the image
// the pod asks for, given what it ran before; the empty string if nothing is. Source: IP-77, P-6.
//
//	image ID           image name    container ID   proof
//	none               any           any            no: nothing was started yet
//	any                as asked for  any            yes
//	other than before  other         any            yes: another image runs, known by another name
//	as before          other         other          yes: restarted, and both names are of one digest
//	as before          other         as before      no: not restarted yet
//
// The kubelet must have seen the change, if it reports what it has seen.
func waitsForImage(pod *corev1.Pod, name string, before wire.InPlaceContainerStatus) string {
	c, status := container(pod, name), podstate.ContainerStatus(pod, name)
	switch {
	case c == nil:
		return ""
	case status == nil:
		return fmt.Sprintf("the status of container %s", name)
	case seen(pod) && runsImage(pod, c, status, before):
		return ""
	}
	return describe(c, status)
}

// seen tells whether the status speaks of the present spec. A kubelet that does not say, from before
// Kubernetes 1.33, is trusted.
func seen(pod *corev1.Pod) bool {
	return pod.Status.ObservedGeneration == 0 || pod.Status.ObservedGeneration >= pod.Generation
}

func runsImage(pod *corev1.Pod, c *corev1.Container, status *corev1.ContainerStatus, before wire.InPlaceContainerStatus) bool {
	if status.ImageID == "" {
		return false
	}
	if sameImage(status.Image, c.Image) || hasDigest(c.Image, status.ImageID) {
		return true
	}
	if before.ImageID == "" {
		// What the container ran before is not known, so this image ID may be of the image that was
		// starting then. A kubelet that says it has seen the change settles it; so does, for want of
		// better proof, a runtime that knows no name.
		return pod.Status.ObservedGeneration > 0 || isAnonymous(status.Image)
	}
	if status.ImageID != before.ImageID {
		return true
	}
	return before.ContainerID != "" && status.ContainerID != "" && status.ContainerID != before.ContainerID
}

// hasDigest tells whether an image is asked for by the digest that runs.
func hasDigest(image, imageID string) bool {
	_, digest, found := strings.Cut(image, "@")
	return found && strings.HasSuffix(imageID, digest)
}

// isAnonymous tells whether a runtime reports an image by its ID instead of a name.
func isAnonymous(image string) bool {
	return image == "" || strings.HasPrefix(image, "sha256:")
}

// describe says what a container runs, what it should, and what keeps it from it.
func describe(c *corev1.Container, status *corev1.ContainerStatus) string {
	text := fmt.Sprintf("container %s runs image %s, wants %s", c.Name, status.Image, c.Image)
	if waiting := status.State.Waiting; waiting != nil && waiting.Reason != "" {
		text += ": " + waiting.Reason
		if waiting.Message != "" {
			text += ": " + waiting.Message
		}
	}
	return text
}
