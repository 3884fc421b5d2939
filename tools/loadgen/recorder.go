package loadgen

import (
	"maps"
	"sync"
	"time"
)

// Stats is what became of the requests so far. Sent is Answered, plus all Failures, plus those
// under way.
type Stats struct {
	// Sent counts the requests that were begun.
	Sent int `json:"sent"`
	// Missed counts those that were due while too many were under way, and so were not sent.
	Missed int `json:"missed"`
	// Answered counts the answers with a status of 2xx, Versions the same by version.
	Answered int            `json:"answered"`
	Versions map[string]int `json:"versions"`
	// Failed counts the other outcomes, Failures the same by kind.
	Failed   int             `json:"failed"`
	Failures map[Failure]int `json:"failures"`
	// LastError is the text of the latest failure, empty without one.
	LastError string `json:"lastError,omitempty"`
	// Latency is over answers only.
	Latency Latency `json:"latency"`
}

// Latency is the distribution of the time from sending a request to the end of its answer. Percentiles are at
// most 2 % above the truth, Max is exact.
type Latency struct {
	P50 time.Duration `json:"p50"`
	P90 time.Duration `json:"p90"`
	P99 time.Duration `json:"p99"`
	Max time.Duration `json:"max"`
}

// Recorder counts outcomes. The zero value is ready; all methods may be called at once. Its size
// does not grow with the number of requests.
type Recorder struct {
	mu        sync.Mutex
	sent      int
	missed    int
	failed    int
	failures  map[Failure]int
	versions  map[string]int
	lastError string
	latencies histogram
}

// Sent counts a request that is begun.
func (r *Recorder) Sent() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent++
}

// Missed counts a request that was due and not sent.
func (r *Recorder) Missed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missed++
}

// Answer counts an answer of version that took latency.
func (r *Recorder) Answer(version string, latency time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.versions == nil {
		r.versions = map[string]int{}
	}
	r.versions[version]++
	r.latencies.add(latency)
}

// Fail counts a request that got no good answer because of err.
func (r *Recorder) Fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failures == nil {
		r.failures = map[Failure]int{}
	}
	r.failures[Classify(err)]++
	r.failed++
	r.lastError = err.Error()
}

// Snapshot returns the counts of this moment. The caller owns what it gets.
func (r *Recorder) Snapshot() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Stats{
		Sent:      r.sent,
		Missed:    r.missed,
		Answered:  r.latencies.count,
		Versions:  maps.Clone(r.versions),
		Failed:    r.failed,
		Failures:  maps.Clone(r.failures),
		LastError: r.lastError,
		Latency: Latency{
			P50: r.latencies.percentile(50),
			P90: r.latencies.percentile(90),
			P99: r.latencies.percentile(99),
			Max: r.latencies.max,
		},
	}
}
