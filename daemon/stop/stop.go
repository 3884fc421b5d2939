// Package stop knows how a container is stopped the way the kubelet does it: its pre-stop hook first,
// then a signal, and the end when its grace period is over. The kubelet starts it anew.
package stop

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/flotilla-k8s/flotilla/daemon/cri"
)

// leastGrace is left to a container after its hook, however long that took.
const leastGrace = 2 * time.Second

// DefaultGrace is the grace period of a pod that states none.
const DefaultGrace = 30 * time.Second

// Target is a container to be stopped.
type Target struct {
	// ID is the bare container ID.
	ID string
	// Spec of the container: its hook and ports.
	Spec *corev1.Container
	// PodIP is where a hook calls that names no host.
	PodIP string
	Grace time.Duration
}

// Result says how a container was stopped.
type Result struct {
	// HookError is why the pre-stop hook failed, which does not keep the container from being stopped.
	HookError error
}

// Container runs the hook of a container, for at most its grace period, and stops it with the rest of
// that period. Without a grace period there is no hook. Source.
func Container(ctx context.Context, runtime cri.Runtime, clk clock.Clock, target Target) (Result, error) {
	var result Result
	left := target.Grace
	if hook := preStop(target.Spec); hook != nil && target.Grace > 0 {
		started := clk.Now()
		result.HookError = runHook(ctx, runtime, clk, hook, target)
		left -= clk.Since(started).Truncate(time.Second)
	}
	if err := ctx.Err(); err != nil {
		return result, fmt.Errorf("stopping container %s: %w", target.Spec.Name, err)
	}
	return result, runtime.Stop(ctx, target.ID, max(left, leastGrace))
}

func preStop(container *corev1.Container) *corev1.LifecycleHandler {
	if container.Lifecycle == nil {
		return nil
	}
	return container.Lifecycle.PreStop
}
