package loadgen

import (
	"math"
	"time"
)

// Each bucket is 2 % wider than the one before. The first ends at floor, the last is past MaxTimeout, which
// no request exceeds by much.
const (
	growth  = 1.02
	floor   = 10 * time.Microsecond
	buckets = 800
)

// histogram keeps durations with a relative error instead of one by one. The zero value is empty.
type histogram struct {
	counts [buckets]int
	count  int
	max    time.Duration
}

func (h *histogram) add(d time.Duration) {
	h.counts[bucket(d)]++
	h.count++
	h.max = max(h.max, d)
}

// percentile returns a duration that p percent of the added ones do not exceed: the end of the bucket in which that
// one lies, or the longest if that is shorter. It is 0 for an empty histogram.
func (h *histogram) percentile(p int) time.Duration {
	rank := (h.count*p + 99) / 100
	seen := 0
	for i, n := range h.counts {
		seen += n
		if n > 0 && seen >= rank {
			return min(end(i), h.max)
		}
	}
	return h.max
}

// bucket returns the index of the bucket for d.
func bucket(d time.Duration) int {
	if d <= floor {
		return 0
	}
	i := math.Ceil(math.Log(float64(d)/float64(floor)) / math.Log(growth))
	return min(int(i), buckets-1)
}

// end returns the longest duration that belongs to bucket i.
func end(i int) time.Duration {
	return time.Duration(float64(floor) * math.Pow(growth, float64(i)))
}
