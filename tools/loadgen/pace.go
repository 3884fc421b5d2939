package loadgen

import (
	"context"
	"sync"
	"time"
)

// pace is a schedule: rate calls a second for a duration, of which at most concurrency run at once.
type pace struct {
	rate        int
	concurrency int
	duration    time.Duration
}

// run calls send at each time of the schedule, in a goroutine of its own, or missed when too many
// sends are running. It returns when the schedule or ctx has ended and all sends are back.
func (p pace) run(ctx context.Context, send, missed func()) {
	var running sync.WaitGroup
	defer running.Wait()
	slots := make(chan struct{}, p.concurrency)
	start := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := 0; ctx.Err() == nil; i++ {
		due := time.Duration(i) * time.Second / time.Duration(p.rate)
		if due >= p.duration {
			return
		}
		timer.Reset(due - time.Since(start))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		select {
		case slots <- struct{}{}:
			running.Go(func() {
				defer func() { <-slots }()
				send()
			})
		default:
			missed()
		}
	}
}
