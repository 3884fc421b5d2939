package loadgen

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestPaceSendsAtItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var sent, missed atomic.Int64
		pace{rate: 40, concurrency: 4, duration: 10 * time.Second}.run(t.Context(),
			func() { sent.Add(1); time.Sleep(90 * time.Millisecond) }, func() { missed.Add(1) })
		if sent.Load() != 400 || missed.Load() != 0 {
			t.Errorf("%d were sent and %d missed, want 400 and 0", sent.Load(), missed.Load())
		}
		// The last is sent at 9.975 s and takes 0.09 s.
		if took := time.Since(start); took != 10065*time.Millisecond {
			t.Errorf("run took %s", took)
		}
	})
}

func TestPaceKeepsToItsConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most, missed atomic.Int64
		pace{rate: 100, concurrency: 3, duration: time.Second}.run(t.Context(), func() {
			// Sends that begin at one time may run in any order, so keep the largest seen.
			for n := running.Add(1); ; {
				seen := most.Load()
				if n <= seen || most.CompareAndSwap(seen, n) {
					break
				}
			}
			time.Sleep(10 * time.Second)
			running.Add(-1)
		}, func() { missed.Add(1) })
		if most.Load() != 3 || missed.Load() != 97 {
			t.Errorf("%d ran at once and %d were missed, want 3 and 97", most.Load(), missed.Load())
		}
		if running.Load() != 0 {
			t.Error("run returned before its sends")
		}
	})
}

func TestPaceEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		var sent atomic.Int64
		pace{rate: 1, concurrency: 1, duration: time.Hour}.run(ctx, func() { sent.Add(1) }, func() {})
		if sent.Load() != 1 {
			t.Errorf("%d were sent, want 1", sent.Load())
		}
	})
}
