package e2e_test

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// follow records every change of the pods of the namespace until the test ends. A watch that the API server
// ends is begun again where it stopped.
func (s *scene) follow() {
	ctx, cancel := context.WithCancel(s.ctx)
	var done sync.WaitGroup
	s.t.Cleanup(func() {
		cancel()
		done.Wait()
	})
	var list corev1.PodList
	if err := s.List(ctx, &list, client.InNamespace(s.ns)); err != nil {
		s.t.Fatalf("listing pods to follow: %v", err)
	}
	done.Go(func() {
		version := list.ResourceVersion
		for ctx.Err() == nil {
			var err error
			version, err = s.followFrom(ctx, version)
			if err != nil && ctx.Err() == nil {
				s.t.Errorf("following pods: %v", err)
				return
			}
		}
	})
}

// followFrom records changes until the watch ends, and returns the version of the last one.
func (s *scene) followFrom(ctx context.Context, version string) (string, error) {
	w, err := s.Watch(ctx, &corev1.PodList{}, &client.ListOptions{
		Namespace: s.ns, Raw: &metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true},
	})
	if err != nil {
		return version, err
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		pod, ok := e.Object.(*corev1.Pod)
		if !ok {
			return version, errors.New("the watch ended with something else than a pod")
		}
		version = pod.ResourceVersion
		switch e.Type {
		case watch.Added, watch.Modified:
			s.history.See(pod, time.Now())
		case watch.Deleted:
			s.history.Gone(pod.Name, time.Now())
		}
	}
	return version, nil
}
