package batch_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/flotilla-k8s/flotilla/shared/batch"
)

var errQuota = errors.New("over quota")

func TestAll(t *testing.T) {
	var running, peak atomic.Int32
	errs := batch.All(200, func(i int) error {
		now := running.Add(1)
		for {
			seen := peak.Load()
			if now <= seen || peak.CompareAndSwap(seen, now) {
				break
			}
		}
		running.Add(-1)
		if i%50 == 7 {
			return errQuota
		}
		return nil
	})
	if peak.Load() > batch.Parallelism {
		t.Errorf("%d calls ran at a time, the bound is %d", peak.Load(), batch.Parallelism)
	}
	for i, err := range errs {
		if (err != nil) != (i%50 == 7) {
			t.Errorf("P-23: call %d has error %v", i, err)
		}
	}
}

func TestSlowStart(t *testing.T) {
	cases := map[string]struct {
		n, failAt, called int
	}{
		"nothing to do": {0, -1, 0},
		"all succeed":   {100, -1, 100},
		"CS-80: a failure of the first call stops at once":   {100, 0, 1},
		"CS-80: a failure in the third batch ends with it":   {100, 4, 7},
		"CS-80: the last batch holds no more than there are": {5, 4, 5},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			called, errs := batch.SlowStart(tc.n, func(i int) error {
				if i == tc.failAt {
					return errQuota
				}
				return nil
			})
			if called != tc.called || len(errs) != tc.called {
				t.Errorf("called %d with %d errors, want %d", called, len(errs), tc.called)
			}
		})
	}
}
