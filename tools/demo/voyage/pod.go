package voyage

import (
	"strings"
)

// Pod is what the demo looks at of a pod, at one moment.
type Pod struct {
	Name, UID, IP, Node string
	// Image is what the pod should run, Running what its container runs; empty while none does.
	Image, Running string
	Restarts       int32
	Ready          bool
	// Trouble is why the container does not run, in the words of the kubelet; empty without a reason.
	Trouble string
	// Phase of the in-place update: the state that the pod's lifecycle label tells.
	State string
}

// Tag returns the tag of the image that the pod should run.
func (p Pod) Tag() string { return tagOf(p.Image) }

// Serves tells whether the pod is ready and runs the image it should.
func (p Pod) Serves() bool { return p.Ready && sameImage(p.Running, p.Image) }

// tagOf returns what follows the last colon of an image, unless that belongs to a port.
func tagOf(image string) string {
	at := strings.LastIndex(image, ":")
	if at < 0 || strings.Contains(image[at:], "/") {
		return ""
	}
	return image[at+1:]
}

// sameImage compares images as a runtime reports them, with the registry in front, and as users write
// them.
func sameImage(reported, written string) bool {
	return reported == written || strings.HasSuffix(reported, "/"+written)
}

// identity is what an update in place must not change.
type identity struct {
	UID, IP, Node string
}

func (p Pod) identity() identity { return identity{UID: p.UID, IP: p.IP, Node: p.Node} }
