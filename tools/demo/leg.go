package main

import (
	"context"
	"fmt"
	"time"

	"github.com/flotilla-k8s/flotilla/tools/demo/live"
	"github.com/flotilla-k8s/flotilla/tools/demo/voyage"
)

// legs goes through all legs and stops at the first that does not arrive.
func (s *sailor) legs(ctx context.Context, set live.Set, events <-chan live.Event) error {
	for i, leg := range voyage.Legs(s.real) {
		s.screen.Say("\n%6.1f s  %d. %s", time.Since(s.began).Seconds(), i+1, leg.About)
		set.Tag, set.Partition = leg.Tag, leg.Partition
		if err := s.leg(ctx, leg, set, events); err != nil {
			return err
		}
	}
	return nil
}

// leg changes the set and follows its pods until the leg has arrived, and stayed so for its hold.
func (s *sailor) leg(ctx context.Context, leg voyage.Leg, set live.Set, events <-chan live.Event) error {
	journal := s.voyage.Journal
	began := time.Now()
	journal.Begin(leg, began)
	if err := s.apply(ctx, set); err != nil {
		return err
	}
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	defer s.screen.Keep()
	var arrived time.Time
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-events:
			s.take(e, began)
			continue
		case <-ticker.C:
		}
		s.tellFailures(began)
		s.screen.Show(voyage.Live(time.Since(began), journal.Pods(), s.stats()))
		switch {
		case journal.Overshot():
			return s.fail(leg, fmt.Sprintf("more than %d pods got image %s", leg.Wanted(), leg.Tag))
		case time.Since(began) > leg.Limit:
			return s.fail(leg, fmt.Sprintf("it was not done after %v", leg.Limit))
		case !journal.Arrived():
			arrived = time.Time{}
		case arrived.IsZero():
			arrived = time.Now()
		}
		if !arrived.IsZero() && time.Since(arrived) >= leg.Hold {
			s.screen.Show(voyage.Live(time.Since(began), journal.Pods(), s.stats()))
			return nil
		}
	}
}

// take enters an event into the journal, and tells it where no table is drawn.
func (s *sailor) take(e live.Event, began time.Time) {
	before := voyage.Pod{Name: e.Pod.Name}
	for _, p := range s.voyage.Journal.Pods() {
		if p.Name == e.Pod.Name {
			before = p
		}
	}
	change := voyage.Change(before, e.Pod)
	if e.Gone {
		change = e.Pod.Name + ": deleted"
		s.voyage.Journal.Gone(e.Pod.Name)
	} else {
		s.voyage.Journal.See(e.Pod, e.At)
	}
	if change != "" && !s.screen.Terminal {
		s.screen.Say("%8.1f s  %s", e.At.Sub(began).Seconds(), change)
	}
}

func (s *sailor) fail(leg voyage.Leg, why string) error {
	s.voyage.Journal.Fail(fmt.Sprintf("leg %q: %s", leg.Name, why))
	return errBroken
}

// tellFailures says at once that requests have failed, so that one can see what happened at the time.
func (s *sailor) tellFailures(began time.Time) {
	stats := s.stats()
	if stats == nil || stats.Failed == s.failed {
		return
	}
	s.failed = stats.Failed
	s.screen.Say("%8.1f s  %d requests failed so far, the last with: %s", time.Since(began).Seconds(), stats.Failed, stats.LastError)
}
