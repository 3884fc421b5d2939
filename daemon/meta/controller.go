package meta

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/flotilla-k8s/flotilla/daemon/meta/plan"
)

// queueName names the queue in metrics (D-16).
const queueName = "runtime_container_meta"

const (
	// debounce lets the changes of one restart come together in one report (IP-83).
	debounce = time.Second
	// firstRetry and lastRetry bound the back-off of one pod; up to retrySpread is added to the upper
	// bound, so that the nodes of a cluster do not retry as one (IP-83).
	firstRetry  = 500 * time.Millisecond
	lastRetry   = 50 * time.Second
	retrySpread = 5 * time.Second
	workers     = 5
	// passTimeout ends a pass, for example one that waits for the cache to show the last write (IP-83).
	passTimeout = 30 * time.Second
)

// Options is what the controller needs beside its Reconciler.
type Options struct {
	Clock clock.WithTicker
	// Random is between 0 and 1, and differs between the nodes.
	Random float64
}

// SetUp adds the controller to a manager whose cache holds the pods of this node.
func SetUp(mgr ctrl.Manager, r *Reconciler, opts Options) error {
	err := ctrl.NewControllerManagedBy(mgr).
		Named(queueName).
		Watches(&corev1.Pod{}, enqueuer(r.WithEnv)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: workers,
			ReconciliationTimeout:   passTimeout,
			RateLimiter:             limiter(opts.Random),
			NewQueue:                newQueue(opts.Clock),
		}).
		Complete(reconcile.AsReconciler(mgr.GetClient(), r))
	if err != nil {
		return fmt.Errorf("adding controller %s: %w", queueName, err)
	}
	return nil
}

func limiter(random float64) workqueue.TypedRateLimiter[reconcile.Request] {
	last := lastRetry + time.Duration(random*float64(retrySpread))
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, last)
}

func newQueue(clk clock.WithTicker) func(string, workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	return func(name string, limit workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		return workqueue.NewTypedRateLimitingQueueWithConfig(limit,
			workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{Name: name, Clock: clk})
	}
}

// enqueuer queues the pods that are due, after the debounce. Deleted pods need no report.
func enqueuer(withEnv bool) handler.EventHandler {
	later := func(pod client.Object, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		queue.AddAfter(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(pod)}, debounce)
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			due := plan.Due
			if e.IsInInitialList {
				due = plan.DueAtStart
			}
			if pod, ok := e.Object.(*corev1.Pod); ok && due(pod, withEnv) {
				later(pod, queue)
			}
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if pod, ok := e.ObjectNew.(*corev1.Pod); ok && plan.Due(pod, withEnv) {
				later(pod, queue)
			}
		},
	}
}
