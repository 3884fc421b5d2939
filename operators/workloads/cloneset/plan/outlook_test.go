package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

func TestOutlook(t *testing.T) {
	cases := map[string]struct {
		lim    Limits
		pods   string
		adjust func(*World)
		want   Outlook
	}{
		"settled": {lim: limits(2, 0, 1, 0), pods: "n+ n+",
			want: Outlook{Ready: true, Message: "2 of 2 pods are available"}},
		"the partition is reached": {lim: limits(3, 2, 1, 0), pods: "n+ o+ o+",
			want: Outlook{Ready: true, Message: "3 of 3 pods are available"}},
		"rolling within the budget": {lim: limits(3, 0, 1, 0), pods: "n-u o+ o+",
			want: Outlook{Reconciling: true, Message: "2 pods wait because maxUnavailable allows 1 unavailable pods"}},
		"paused": {lim: Limits{Replicas: 2, MaxUnavailable: 1, Paused: true}, pods: "n+ o+",
			want: Outlook{Ready: true, Message: "the roll-out is paused"}},
		"a pod waits for its image": {lim: limits(1, 0, 1, 0), pods: "n-u",
			adjust: func(w *World) { w.Pods[0].InPlace.Waiting = "container web: ErrImagePull" },
			want:   Outlook{Reconciling: true, Message: "pod web-000 waits for container web: ErrImagePull"}},
		"two pods wait for their hooks": {lim: limits(2, 0, 2, 0), pods: "o- o-",
			adjust: func(w *World) {
				for i := range w.Pods {
					w.Pods[i].State, w.Pods[i].HeldForUpdate = wire.LifecyclePreparingUpdate, true
				}
			},
			want: Outlook{Reconciling: true, Message: "pod web-000 waits for its inPlaceUpdate hook to let go (and 1 more)"}},
		"InPlaceOnly refuses": {lim: limits(1, 0, 1, 0), pods: "o+",
			adjust: func(w *World) { w.Policy, w.Refusals = InPlaceOnly, map[Route]string{{"aaa", "bbb"}: "env changed"} },
			want:   Outlook{Ready: true, Stalled: true, Message: "podUpdatePolicy InPlaceOnly does not allow this change: env changed"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := world(tc.lim, tc.pods)
			if tc.adjust != nil {
				tc.adjust(w)
			}
			p := Compute(w)
			if diff := cmp.Diff(tc.want, p.Outlook(w)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
