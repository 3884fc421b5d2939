package cloneset

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/flotilla-k8s/flotilla/operators/workloads/cloneset/plan"
	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/gates"
	"github.com/flotilla-k8s/flotilla/shared/inplace"
	"github.com/flotilla-k8s/flotilla/shared/patch"
)

// Deps is what a Reconciler works with. All of it is required.
type Deps struct {
	// Client reads from the cache; a read waits for this process's own writes.
	Client client.Client
	// Reader reads from the API server.
	Reader   client.Reader
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
	Gates    gates.Set
	Engine   *inplace.Engine
	// Random returns a number from 0 to n-1; it must be safe for concurrent use.
	Random func(n int) int
	// ExcludePreparingDelete is the global form of scaleStrategy.excludePreparingDelete.
	ExcludePreparingDelete bool
}

// Reconciler brings the pods of a CloneSet in line with its spec.
type Reconciler struct {
	Deps
}

// New returns a Reconciler that is ready.
func New(deps Deps) *Reconciler { return &Reconciler{Deps: deps} }

// Reconcile makes one pass over a set. In a namespace that is being deleted nothing can be created any
// more; that is no error, and nothing to try again.
func (r *Reconciler) Reconcile(ctx context.Context, set *appsv1beta1.CloneSet) (reconcile.Result, error) {
	result, err := r.pass(ctx, set)
	if namespaceGoes(err) {
		return reconcile.Result{}, nil
	}
	return patch.Retry(result, err)
}

func namespaceGoes(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

func (r *Reconciler) pass(ctx context.Context, set *appsv1beta1.CloneSet) (reconcile.Result, error) {
	history, err := r.syncHistory(ctx, set)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("bringing the history in line: %w", err)
	}
	world, err := r.observe(ctx, set, history)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("observing: %w", err)
	}
	steps := plan.Compute(&world.World)
	out := r.act(ctx, set, world, steps)
	deadline, err := r.report(ctx, set, world, steps, out)
	if err := errors.Join(out.err(), err); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: soonest(steps.NextLook, out.nextLook, deadline)}, nil
}

// soonest returns the shortest positive delay, or 0 if there is none (EX-5).
func soonest(delays ...time.Duration) time.Duration {
	var least time.Duration
	for _, d := range delays {
		if d > 0 && (least == 0 || d < least) {
			least = d
		}
	}
	return least
}

func labelSet(pod *corev1.Pod) labels.Set { return labels.Set(pod.Labels) }
