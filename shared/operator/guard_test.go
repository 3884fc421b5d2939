package operator

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"
)

func TestReferenceGuardHeld(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	lease := func(holder, version string, renewedBefore time.Duration) *coordinationv1.Lease {
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kruise-system", ResourceVersion: version},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: &holder, LeaseDurationSeconds: new(int32(15)),
				RenewTime: new(metav1.NewMicroTime(start.Add(-renewedBefore))),
			},
		}
	}
	type look struct {
		after time.Duration // since the look before
		lease *coordinationv1.Lease
		want  bool
	}
	cases := []struct {
		name  string
		looks []look
	}{
		{"DEP-200: a fresh lease is held", []look{{0, lease("a", "1", 0), true}}},
		{"DEP-200: a released lease is free", []look{{0, lease("", "1", 0), false}}},
		{"DEP-200: a lease without a holder is free", []look{{0, &coordinationv1.Lease{}, false}}},
		{"DEP-200: a lease renewed long ago is free at once", []look{{0, lease("a", "1", 11*time.Minute), false}}},
		{"DEP-200: a clock that is a minute behind does not make a live lease free", []look{
			{0, lease("a", "1", time.Minute), true}, {10 * time.Second, lease("a", "2", 50*time.Second), true},
			{10 * time.Second, lease("a", "3", 40*time.Second), true},
		}},
		{"DEP-200: a lease that nobody renews for its duration is free", []look{
			{0, lease("a", "1", 0), true}, {15 * time.Second, lease("a", "1", 0), true}, {time.Second, lease("a", "1", 0), false},
		}},
		{"DEP-200: a renewal starts the watch again", []look{
			{0, lease("a", "1", 0), true}, {14 * time.Second, lease("a", "2", 0), true}, {14 * time.Second, lease("a", "2", 0), true},
			{2 * time.Second, lease("a", "2", 0), false},
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			clock := testclock.NewFakePassiveClock(start)
			guard := newReferenceGuard(nil, clock, "flotilla-system")
			for i, l := range tc.looks {
				clock.SetTime(clock.Now().Add(l.after))
				if got := guard.held(l.lease); got != l.want {
					t.Errorf("look %d: held is %t, want %t", i+1, got, l.want)
				}
			}
		})
	}
}
