// Package cri knows how to speak with the container runtime of the node: where its socket is, which
// calls the daemon makes, how long they may take, and how a kubelet marks its containers.
package cri

import (
	"context"
	"strings"
	"time"
)

// Runtime is what the daemon asks of a container runtime. Container IDs are bare, without the scheme
// that they have in the status of a pod.
type Runtime interface {
	// Name is the scheme of the runtime's container IDs, for example "containerd".
	Name() string
	// Containers lists the containers of a pod, of any kind and state.
	Containers(ctx context.Context, podUID string) ([]Container, error)
	// Env returns the environment that a container was started with. A runtime that does not tell is
	// helped by a command in the container, which needs an env program there. It reports false, without
	// an error, when that needs the container to run and it does not.
	Env(ctx context.Context, id string) (env map[string]string, known bool, err error)
	// Exec runs a command in a container until it ends or the context does. An exit code other than 0 is
	// an error.
	Exec(ctx context.Context, id string, command []string) error
	// Stop asks a container to end, and ends it when the grace period has passed, in whole seconds. A
	// container that has ended or does not exist is no error.
	Stop(ctx context.Context, id string, grace time.Duration) error
}

// Container is a container as the runtime lists it.
type Container struct {
	ID string
	// Name is that of the container in the pod's spec.
	Name string
	// CreatedAt is in nanoseconds since 1970, by the runtime's clock.
	CreatedAt int64
	Running   bool
	// PlainHash is the kubelet's hash of the spec; 0 if the container bears none (M-5).
	PlainHash uint64
	// RestartCount is 0 if the container bears none (M-4).
	RestartCount int32
}

// Scheme returns the runtime's name in a container ID of a pod's status, "containerd" in
// containerd://0f3c, or nothing when there is no ID.
func Scheme(containerID string) string {
	scheme, _, found := strings.Cut(containerID, "://")
	if !found {
		return ""
	}
	return scheme
}

// FullID returns a container ID as it stands in the status of a pod.
func FullID(scheme, id string) string {
	return scheme + "://" + id
}

// BareID returns a container ID of a pod's status without its scheme.
func BareID(containerID string) string {
	_, id, _ := strings.Cut(containerID, "://")
	return id
}

// Longest times of single calls.
const (
	requestTimeout = 5 * time.Second
	imageFsTimeout = 10 * time.Second
	execTimeout    = 3 * time.Second
	// margin is what a call may take beyond a time that the runtime itself keeps.
	margin = 5 * time.Second
)
