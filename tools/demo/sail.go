package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/flotilla-k8s/flotilla/tools/demo/install"
	"github.com/flotilla-k8s/flotilla/tools/demo/live"
	"github.com/flotilla-k8s/flotilla/tools/demo/voyage"
	"github.com/flotilla-k8s/flotilla/tools/loadgen"
)

// errBroken ends the voyage early; the journal says why.
var errBroken = errors.New("a promise was broken")

// startLimit is how long the pods of a new set may take until they are ready.
const startLimit = 90 * time.Second

// sailor takes the demo's CloneSets through the legs.
type sailor struct {
	ground
	objects *install.Cluster
	core    corev1client.CoreV1Interface
	real    bool
	screen  *live.Screen
	voyage  voyage.Voyage
	load    *load
	failed  int // failed requests that were told
}

// sweep begins to remove what an earlier run left.
func (s *sailor) sweep(ctx context.Context) error {
	err := s.core.Namespaces().Delete(ctx, live.Namespace, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("removing the namespace of an earlier run: %w", err)
	}
	s.say("Removing what an earlier run left")
	return nil
}

// swept waits until nothing is left of an earlier run.
func (s *sailor) swept(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	err := install.Poll(ctx, 300*time.Millisecond, func() (bool, error) {
		_, err := s.core.Namespaces().Get(ctx, live.Namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
	if err != nil {
		return fmt.Errorf("waiting for the namespace of an earlier run to go: %w", err)
	}
	return nil
}

// sail goes through the legs under load, and then measures a recreation for comparison.
func (s *sailor) sail(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := s.swept(ctx); err != nil {
		return err
	}
	if err := s.objects.Apply(ctx, live.NamespaceObject()); err != nil {
		return err
	}
	set := live.Set{Name: "web", Policy: live.InPlace, Tag: "v1"}
	events, err := live.Watch(ctx, s.core, set.Name)
	if err != nil {
		return err
	}
	pods, err := s.launch(ctx, set, events)
	if err != nil {
		return err
	}
	s.voyage.Journal = voyage.NewJournal(pods)
	if err := s.startLoad(ctx, set); err != nil {
		return err
	}
	err = s.legs(ctx, set, events)
	s.voyage.Load = s.stopLoad()
	if err != nil {
		return err
	}
	return s.recreate(ctx)
}

// launch applies a new set and waits until all its pods serve.
func (s *sailor) launch(ctx context.Context, set live.Set, events <-chan live.Event) ([]voyage.Pod, error) {
	s.say("CloneSet %s: %d pods of image %s, policy %s", set.Name, voyage.Replicas, set.Tag, set.Policy)
	if err := s.apply(ctx, set); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	pods, err := settle(ctx, events, map[string]voyage.Pod{}, set.Tag)
	if err != nil {
		return nil, fmt.Errorf("waiting for the pods of %s: %w", set.Name, err)
	}
	s.say("All %d pods are ready", len(pods))
	return pods, nil
}

func (s *sailor) apply(ctx context.Context, set live.Set) error {
	object, err := set.CloneSet()
	if err != nil {
		return err
	}
	return s.objects.Apply(ctx, object)
}

// settle takes in events until the pods are as many as wanted and all serve with the image of a tag. It
// keeps pods up to date and returns them.
func settle(ctx context.Context, events <-chan live.Event, pods map[string]voyage.Pod, tag string) ([]voyage.Pod, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%d of %d pods serve: %w", len(serving(pods, tag)), voyage.Replicas, ctx.Err())
		case e := <-events:
			pods[e.Pod.Name] = e.Pod
			if e.Gone {
				delete(pods, e.Pod.Name)
			}
		}
		if there := serving(pods, tag); len(there) == voyage.Replicas && len(pods) == voyage.Replicas {
			return there, nil
		}
	}
}

func serving(pods map[string]voyage.Pod, tag string) []voyage.Pod {
	var there []voyage.Pod
	for _, p := range pods {
		if p.Tag() == tag && p.Serves() {
			there = append(there, p)
		}
	}
	return there
}

// recreate measures how long the same change takes when pods are replaced instead, and what clients see of it.
func (s *sailor) recreate(ctx context.Context) error {
	set := live.Set{Name: "web-recreate", Policy: live.ReCreate, Tag: "v1"}
	events, err := live.Watch(ctx, s.core, set.Name)
	if err != nil {
		return err
	}
	s.screen.Say("")
	there, err := s.launch(ctx, set, events)
	if err != nil {
		return err
	}
	if err := s.startLoad(ctx, set); err != nil {
		return err
	}
	took, err := s.replace(ctx, set, there, events)
	s.voyage.Recreate = voyage.Recreation{Took: took, Load: s.stopLoad()}
	return err
}

// replace changes the image of the set that is recreated, and returns how long it takes until all pods are
// new ones and serve.
func (s *sailor) replace(ctx context.Context, set live.Set, there []voyage.Pod, events <-chan live.Event) (time.Duration, error) {
	pods := map[string]voyage.Pod{}
	for _, p := range there {
		pods[p.Name] = p
	}
	set.Tag = "v2"
	s.say("For comparison: image v1 -> v2 with policy ReCreate")
	began := time.Now()
	if err := s.apply(ctx, set); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*startLimit)
	defer cancel()
	if _, err := settle(ctx, events, pods, set.Tag); err != nil {
		return 0, fmt.Errorf("waiting for recreated pods: %w", err)
	}
	return time.Since(began), nil
}

// stats returns what clients have seen so far, or nil without a load.
func (s *sailor) stats() *loadgen.Stats {
	if s.load == nil {
		return nil
	}
	stats := s.load.recorder.Snapshot()
	return &stats
}
