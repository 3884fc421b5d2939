package live

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/flotilla-k8s/flotilla/tools/demo/voyage"
)

// lifecycleLabel tells the state of a pod's update; it is part of the wire format.
const lifecycleLabel = "lifecycle.apps.kruise.io/state"

// Event is one pod as it is now, or that it is gone.
type Event struct {
	Pod  voyage.Pod
	Gone bool
	At   time.Time
}

// Watch sends every change of the pods of a set, those that exist first, until the context ends.
func Watch(ctx context.Context, pods corev1client.PodsGetter, set string) (<-chan Event, error) {
	events := make(chan Event, 64)
	selector := "app=" + set
	send := func(object any, gone bool) {
		if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = last.Obj
		}
		pod, ok := object.(*corev1.Pod)
		if !ok {
			return
		}
		select {
		case events <- Event{Pod: podOf(pod), Gone: gone, At: time.Now()}:
		case <-ctx.Done():
		}
	}
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				o.LabelSelector = selector
				return pods.Pods(Namespace).List(ctx, o)
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				o.LabelSelector = selector
				return pods.Pods(Namespace).Watch(ctx, o)
			},
		},
		ObjectType: &corev1.Pod{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { send(object, false) },
			UpdateFunc: func(_, object any) { send(object, false) },
			DeleteFunc: func(object any) { send(object, true) },
		},
	})
	go controller.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), controller.HasSynced) {
		return nil, errors.New("watching pods: interrupted")
	}
	return events, nil
}

// podOf takes from a pod what the demo looks at. A pod that is on its way out is out of service.
func podOf(pod *corev1.Pod) voyage.Pod {
	p := voyage.Pod{
		Name: pod.Name, UID: string(pod.UID), IP: pod.Status.PodIP, Node: pod.Spec.NodeName,
		Image: pod.Spec.Containers[0].Image, State: pod.Labels[lifecycleLabel],
	}
	if pod.DeletionTimestamp != nil {
		p.Trouble = "Terminating"
		return p
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			p.Ready = c.Status == corev1.ConditionTrue
		}
	}
	for _, s := range pod.Status.ContainerStatuses {
		p.Restarts = s.RestartCount
		switch {
		case s.State.Running != nil:
			p.Running = s.Image
		case s.State.Terminated != nil:
			p.Trouble = s.State.Terminated.Reason
		case s.State.Waiting != nil:
			p.Trouble = s.State.Waiting.Reason
		}
	}
	return p
}
