package meta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/flotilla-k8s/flotilla/daemon/cri"
	"github.com/flotilla-k8s/flotilla/daemon/meta/plan"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// runtimePause is how long a pod waits whose runtime has not been found; the search tells the reason.
const runtimePause = 5 * time.Second

// Runtimes finds the runtime of a container by the ID in a pod's status.
type Runtimes interface {
	For(containerID string) (cri.Runtime, bool)
}

// Reconciler reports the containers of one pod at a time.
type Reconciler struct {
	// Client reads pods from the cache and waits there for its own writes.
	Client   client.Client
	Runtimes Runtimes
	// WithEnv says that hashes of env values from metadata are reported.
	WithEnv bool
}

// Reconcile implements reconcile.ObjectReconciler.
func (r *Reconciler) Reconcile(ctx context.Context, pod *corev1.Pod) (reconcile.Result, error) {
	if !plan.Due(pod, r.WithEnv) {
		return reconcile.Result{}, nil
	}
	runtime, found := r.Runtimes.For(plan.ContainerID(pod))
	if !found {
		logf.FromContext(ctx).V(4).Info("Waiting for the container runtime", "container", plan.ContainerID(pod))
		return reconcile.Result{RequeueAfter: runtimePause}, nil
	}
	// A hash that cannot be read does not keep the rest from being reported.
	world, readErr := r.observe(ctx, pod, runtime)
	outcome, err := plan.Compute(world)
	if err != nil {
		return reconcile.Result{}, errors.Join(readErr, fmt.Errorf("planning report: %w", err))
	}
	return reconcile.Result{}, errors.Join(readErr, r.write(ctx, pod, outcome))
}

// observe asks the runtime. With an error the world holds what could be read.
func (r *Reconciler) observe(ctx context.Context, pod *corev1.Pod, runtime cri.Runtime) (plan.World, error) {
	world := plan.World{Pod: pod, Runtime: runtime.Name(), WithEnv: r.WithEnv, EnvHashes: map[string]uint64{}}
	var err error
	if world.Containers, err = runtime.Containers(ctx, string(pod.UID)); err != nil {
		return world, err
	}
	var errs []error
	for _, unread := range plan.EnvToRead(world) {
		hash, err := readEnvHash(ctx, runtime, unread)
		world.EnvHashes[unread.ID] = hash
		errs = append(errs, err)
	}
	return world, errors.Join(errs...)
}

// readEnvHash returns 0, which means unknown, for an environment that cannot be read now.
func readEnvHash(ctx context.Context, runtime cri.Runtime, unread plan.Unread) (uint64, error) {
	env, known, err := runtime.Env(ctx, unread.ID)
	if err != nil {
		return 0, fmt.Errorf("reading env of container %s: %w", unread.Spec.Name, err)
	}
	if !known {
		return 0, nil
	}
	return plan.EnvHash(unread.Spec, env)
}

// write patches the annotation through the status endpoint, so that the daemon needs no right to write
// pods (IP-82). The patch names the UID, so that a new pod of the same name is not given the report of
// the old one.
func (r *Reconciler) write(ctx context.Context, pod *corev1.Pod, outcome plan.Outcome) error {
	if !outcome.Write {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":         pod.UID,
		"annotations": map[string]string{wire.AnnotationRuntimeContainersMeta: outcome.Value},
	}})
	if err != nil {
		return fmt.Errorf("encoding patch: %w", err)
	}
	target := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	err = r.Client.Status().Patch(ctx, target, client.RawPatch(types.StrategicMergePatchType, patch))
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil // the pod is gone, or another one has its name
	case err != nil:
		return fmt.Errorf("patching pod: %w", err)
	}
	logf.FromContext(ctx).V(2).Info("Reported containers", "pod", klog.KObj(pod))
	return nil
}
