package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

func TestSummarize(t *testing.T) {
	w := world(limits(5, 2, 1, 0), "n+ n- n-u o+ o+")
	w.Pods[3].State, w.Pods[3].Available = wire.LifecyclePreparingDelete, false
	want := Summary{Replicas: 5, Ready: 3, Available: 2, Updated: 3, UpdatedReady: 1, UpdatedAvailable: 1,
		ExpectedUpdated: 3, CurrentRevision: oldRevision, UpdateRevision: newRevision}
	if diff := cmp.Diff(want, Summarize(w)); diff != "" {
		t.Error(diff)
	}
	t.Run("section 3: the current revision follows when all pods are updated, ready or not", func(t *testing.T) {
		if got := Summarize(world(limits(2, 0, 1, 0), "n+ n-")).CurrentRevision; got != newRevision {
			t.Errorf("got %s", got)
		}
		if got := Summarize(world(limits(3, 0, 1, 0), "n+ n-")).CurrentRevision; got != oldRevision {
			t.Errorf("with a pod missing: got %s", got)
		}
	})
}

func TestProgressed(t *testing.T) {
	const deadline = 11 * time.Second
	ago := func(s int) time.Time { return epoch.Add(-time.Duration(s) * time.Second) }
	had := func(reason string, s int) *Progress { return &Progress{Reason: reason, Since: ago(s)} }
	settled, rolling := "n+ n+ n+", "n+ o+ o+"
	cases := map[string]struct {
		pods   string
		lim    Limits
		before *Progress
		moved  Moved
		want   string
		since  time.Time
		next   time.Duration
	}{
		"row 1: all available":                           {pods: settled, lim: limits(3, 0, 1, 0), want: ReasonAvailable, since: epoch},
		"row 1: available since then":                    {pods: settled, lim: limits(3, 0, 1, 0), before: had(ReasonAvailable, 90), want: ReasonAvailable, since: ago(90)},
		"row 2: paused":                                  {pods: rolling, lim: Limits{Replicas: 3, MaxUnavailable: 1, Paused: true}, before: had(ReasonUpdated, 90), want: ReasonPaused, since: epoch},
		"row 3: the partition is reached":                {pods: rolling, lim: limits(3, 2, 1, 0), want: ReasonPartitionAvailable, since: epoch},
		"C-25: a broken old pod is no reached partition": {pods: "n+ o- o+", lim: limits(3, 2, 1, 0), before: had(ReasonUpdated, 1), want: ReasonUpdated, since: ago(1), next: 11 * time.Second},
		"row 5: rolling within the deadline":             {pods: rolling, lim: limits(3, 0, 1, 0), before: had(ReasonUpdated, 4), want: ReasonUpdated, since: ago(4), next: 8 * time.Second},
		"row 4: the deadline passed":                     {pods: rolling, lim: limits(3, 0, 1, 0), before: had(ReasonUpdated, 12), want: ReasonDeadlineExceeded, since: epoch},
		"row 4: once exceeded it stays so":               {pods: rolling, lim: limits(3, 0, 1, 0), before: had(ReasonDeadlineExceeded, 3), moved: Moved{Numbers: true}, want: ReasonDeadlineExceeded, since: ago(3)},
		"C-12: progress restarts the clock":              {pods: rolling, lim: limits(3, 0, 1, 0), before: had(ReasonUpdated, 12), moved: Moved{Numbers: true}, want: ReasonUpdated, since: epoch, next: 12 * time.Second},
		"C-12: a new revision leaves exceeded":           {pods: rolling, lim: limits(3, 0, 1, 0), before: had(ReasonDeadlineExceeded, 90), moved: Moved{Revision: true}, want: ReasonUpdated, since: epoch, next: 12 * time.Second},
		"CS-137: leaving Available restarts the clock":   {pods: rolling, lim: limits(3, 0, 1, 0), before: had(ReasonAvailable, 900), want: ReasonUpdated, since: epoch, next: 12 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := world(tc.lim, tc.pods)
			got, next := Progressed(w, Summarize(w), tc.before, tc.moved, deadline)
			if got.Reason != tc.want || !got.Since.Equal(tc.since) || next != tc.next {
				t.Errorf("got %s since %v, next %v; want %s since %v, next %v", got.Reason, got.Since, next, tc.want, tc.since, tc.next)
			}
			if got.Failed() != (tc.want == ReasonDeadlineExceeded) {
				t.Error("only the passed deadline makes the condition False")
			}
		})
	}
}
