package restart

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/flotilla-k8s/flotilla/daemon/meta/plan"
)

// queueName names the queue in metrics (D-16).
const queueName = "runtime_container_meta_restarter"

const (
	// firstDelay gives the kubelet the time to see the new metadata, and to replace a container whose
	// image has changed as well. It is also the first retry (IP-86).
	firstDelay = 3 * time.Second
	lastRetry  = 10 * time.Minute
	workers    = 10
)

type queue = workqueue.TypedRateLimitingInterface[Request]

// SetUp adds the controller to a manager whose cache holds the pods of this node. A pass lasts as long as
// the hook and the grace period of its container, so it has no timeout.
func SetUp(mgr ctrl.Manager, r *Reconciler, clk clock.WithTicker) error {
	err := builder.TypedControllerManagedBy[Request](mgr).
		Named(queueName).
		Watches(&corev1.Pod{}, enqueuer()).
		WithOptions(controller.TypedOptions[Request]{
			MaxConcurrentReconciles: workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[Request](firstDelay, lastRetry),
			NewQueue: func(name string, limit workqueue.TypedRateLimiter[Request]) queue {
				return workqueue.NewTypedRateLimitingQueueWithConfig(limit, workqueue.TypedRateLimitingQueueConfig[Request]{Name: name, Clock: clk})
			},
		}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("adding controller %s: %w", queueName, err)
	}
	return nil
}

// enqueuer queues the outdated containers of pods that were there or have changed.
func enqueuer() handler.TypedEventHandler[client.Object, Request] {
	return handler.TypedFuncs[client.Object, Request]{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { enqueue(ctx, e.Object, q) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) { enqueue(ctx, e.ObjectNew, q) },
	}
}

func enqueue(ctx context.Context, obj client.Object, q queue) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return
	}
	outdated, err := plan.Outdated(pod)
	if err != nil {
		logf.FromContext(ctx).Error(err, "Looking for containers with outdated env", "pod", client.ObjectKeyFromObject(pod))
		return
	}
	for _, status := range outdated {
		q.AddAfter(Request{Pod: client.ObjectKeyFromObject(pod), Container: status.Name, ID: status.ContainerID}, firstDelay)
	}
}
