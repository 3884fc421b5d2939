package cloneset

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/gates"
	"github.com/flotilla-k8s/flotilla/shared/inplace"
	"github.com/flotilla-k8s/flotilla/shared/operator"
)

// passTimeout ends a pass that hangs, for instance on a read that waits for a write which the cache
// never shows; it is then simply made again.
const passTimeout = 2 * time.Minute

// options are the flags of this controller.
type options struct {
	workers                int
	excludePreparingDelete bool
}

// Controller returns the CloneSet controller for the list of an operator.
func Controller() operator.Controller {
	o := &options{workers: 3}
	return operator.Controller{
		Name:      component,
		Kind:      kind(),
		BindFlags: o.bind,
		Setup:     o.setup,
	}
}

func (o *options) bind(fs *pflag.FlagSet) {
	fs.IntVar(&o.workers, "cloneset-workers", o.workers, "number of CloneSets reconciled at the same time")
	fs.BoolVar(&o.excludePreparingDelete, "cloneset-scaling-exclude-preparing-delete", o.excludePreparingDelete,
		"do not count pods in PreparingDelete as replicas, for every CloneSet")
	fs.Duration("expectation-timeout", 5*time.Minute, "accepted and without effect: reads wait for the process's own writes")
}

func (o *options) setup(ctx context.Context, deps operator.Deps) error {
	for _, obj := range []client.Object{&corev1.Pod{}, &corev1.PersistentVolumeClaim{}, &appsv1.ControllerRevision{}} {
		if err := deps.Manager.GetFieldIndexer().IndexField(ctx, obj, ownerIndex, ownerUIDs); err != nil {
			return fmt.Errorf("indexing %T by owner: %w", obj, err)
		}
	}
	r := New(Deps{
		Client:   deps.Client,
		Reader:   deps.Reader,
		Recorder: deps.Recorder(component),
		Clock:    deps.Clock,
		Gates:    deps.Gates,
		Engine: &inplace.Engine{Client: deps.Client, Clock: deps.Clock, Gates: inplace.Gates{
			EnvFromMetadata:     deps.Gates.Enabled(gates.InPlaceUpdateEnvFromMetadata),
			VerticalScaling:     deps.Gates.Enabled(gates.InPlaceWorkloadVerticalScaling),
			RecreateOnVCTChange: deps.Gates.Enabled(gates.RecreatePodWhenChangeVCTInCloneSetGate),
		}},
		Random:                 rand.IntN,
		ExcludePreparingDelete: o.excludePreparingDelete,
	})
	return o.watch(deps, r)
}

// watch says what enqueues a set: changes of its spec, and everything about what it owns. Its own
// status writes do not.
func (o *options) watch(deps operator.Deps, r *Reconciler) error {
	err := ctrl.NewControllerManagedBy(deps.Manager).
		Named(component).
		For(&appsv1beta1.CloneSet{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&corev1.Pod{}, builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		Owns(&corev1.PersistentVolumeClaim{}, builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		Owns(&appsv1.ControllerRevision{}, builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: o.workers,
			ReconciliationTimeout:   passTimeout,
			RateLimiter:             deps.RateLimiter(),
		}).
		Complete(reconcile.AsReconciler(deps.Client, r))
	if err != nil {
		return fmt.Errorf("starting the controller: %w", err)
	}
	return nil
}
