package loadgen_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flotilla-k8s/flotilla/tools/loadgen"
)

func TestRecorderCounts(t *testing.T) {
	var r loadgen.Recorder
	for range 5 {
		r.Sent()
	}
	r.Missed()
	r.Answer("v1", time.Second)
	r.Answer("v1", time.Second)
	r.Answer("v2", 3*time.Second)
	r.Fail(loadgen.StatusError(503))
	r.Fail(errors.New("strange"))
	want := loadgen.Stats{
		Sent: 5, Missed: 1,
		Answered: 3, Versions: map[string]int{"v1": 2, "v2": 1},
		Failed: 2, Failures: map[loadgen.Failure]int{"status 503": 1, loadgen.Other: 1},
		LastError: "strange",
	}
	have := r.Snapshot()
	have.Latency = loadgen.Latency{}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("counts (-want +have):\n%s", diff)
	}
}

func TestSnapshotStaysAsItWas(t *testing.T) {
	var r loadgen.Recorder
	if diff := cmp.Diff(loadgen.Stats{}, r.Snapshot()); diff != "" {
		t.Errorf("first counts (-want +have):\n%s", diff)
	}
	r.Answer("v1", time.Second)
	early := r.Snapshot()
	r.Answer("v1", time.Second)
	early.Versions["v3"] = 1
	if early.Versions["v1"] != 1 || r.Snapshot().Versions["v3"] != 0 {
		t.Error("a snapshot and its recorder share a map")
	}
}

func TestPercentilesAreNearTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		latencies := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(loadgen.MaxTimeout)).Draw(t, "latency"))
		}), 1, 200).Draw(t, "latencies")
		var r loadgen.Recorder
		for _, l := range latencies {
			r.Answer("v1", l)
		}
		slices.Sort(latencies)
		have := r.Snapshot().Latency
		checkPercentile(t, latencies, 50, have.P50)
		checkPercentile(t, latencies, 90, have.P90)
		checkPercentile(t, latencies, 99, have.P99)
		if want := latencies[len(latencies)-1]; have.Max != want {
			t.Errorf("max is %s, want %s", have.Max, want)
		}
	})
}

// checkPercentile compares have with the percentile of sorted by the nearest-rank method.
func checkPercentile(t *rapid.T, sorted []time.Duration, percent int, have time.Duration) {
	rank := (len(sorted)*percent + 99) / 100
	truth := sorted[rank-1]
	// 10 us is the width of the first bucket; 1 ns is what rounding may take away.
	highest := max(10*time.Microsecond, time.Duration(float64(truth)*1.02)) + 1
	if have < truth-1 || have > highest {
		t.Errorf("percentile %d is %s, want %s to %s", percent, have, truth, highest)
	}
}
