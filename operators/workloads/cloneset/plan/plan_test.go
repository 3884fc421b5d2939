package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// TestQuota holds the worked numbers of section 20 of the specification.
func TestQuota(t *testing.T) {
	paused := limits(5, 0, 0, 0)
	paused.Paused = true // the surge of 3 counts as 0 (CS-63)
	limited := func(lim Limits, su int) Limits { lim.ScaleMaxUnavailable = su; return lim }
	cases := map[string]struct {
		lim      Limits
		pods     string
		rollback bool
		want     quota // updateNum and updateMaxUnavailable are compared only where update is set
		update   bool
	}{
		"CS-71: first creation":                     {lim: limits(5, 0, 1, 0), want: quota{up: 5, upLimit: 5}},
		"CS-71: scale up stops at the scale limit":  {lim: limited(limits(5, 0, 1, 0), 2), want: quota{up: 5, upLimit: 2}},
		"CS-71: unavailable pods use the limit":     {lim: limited(limits(6, 0, 1, 0), 2), pods: "n+ n+ n-", want: quota{up: 3, upLimit: 1}},
		"CS-73: one specified, all fine":            {lim: limits(5, 0, 1, 0), pods: "n+d n+ n+ n+ n+", want: quota{deleteReadyLimit: 1}},
		"CS-73: a replacement that is not ready":    {lim: limits(5, 0, 1, 0), pods: "n+d n+ n+ n+ n-", want: quota{deleteReadyLimit: 0}},
		"CS-72: replicas lowered for the specified": {lim: limits(4, 0, 1, 0), pods: "n-d n-d n+ n+ n+", want: quota{deleteReadyLimit: 2}},
		"CS-74: partition 3 of 5":                   {lim: limits(5, 3, 1, 0), pods: "o+ o+ o+ o+ o+", update: true, want: quota{updateNum: 2, updateMaxUnavailable: 1}},
		"CS-122: partition raised, rollback on":     {lim: limits(5, 4, 2, 0), pods: "n+ n+ n+ n+ o+", rollback: true, update: true, want: quota{updateNum: -3, updateMaxUnavailable: 2}},
		"CS-122: partition raised, rollback off":    {lim: limits(5, 4, 1, 0), pods: "n+ n+ n+ n+ o+", update: true, want: quota{updateMaxUnavailable: 1}},
		"CS-69: specified with surge":               {lim: limits(5, 0, 0, 1), pods: "n+d n+ n+ n+ n+", want: quota{useSurge: 1, up: 1, upLimit: 1}},
		"CS-69: the extra pod is not ready":         {lim: limits(5, 0, 0, 1), pods: "n+d n+ n+ n+ n+ n-", want: quota{useSurge: 1}},
		"CS-69: the extra pod is ready":             {lim: limits(5, 0, 0, 1), pods: "n+d n+ n+ n+ n+ n+", want: quota{useSurge: 1, deleteReadyLimit: 1}},
		"CS-117: in place with surge":               {lim: limits(5, 3, 1, 1), pods: "o+ o+ o+ o+ o+", update: true, want: quota{useSurge: 1, up: 1, upLimit: 1, updateNum: 2, updateMaxUnavailable: 1}},
		"CS-117: the surge pod is not ready":        {lim: limits(5, 3, 1, 1), pods: "o+ o+ o+ o+ o+ n-", update: true, want: quota{useSurge: 1, updateNum: 1, updateMaxUnavailable: 2}},
		"CS-117: one updating":                      {lim: limits(5, 3, 1, 1), pods: "o+ o+ o+ o+ n-u n-", want: quota{down: 1, downOld: 1}},
		"CS-71: scale out failed partly":            {lim: limits(5, 1, 2, 0), pods: "o+ o+ n+ n+", update: true, want: quota{up: 1, upLimit: 1, updateNum: 1, updateMaxUnavailable: 1}},
		"CS-120: paused with surge pods":            {lim: paused, pods: "o+ o+ o+ o+ o+ n- n- n-", want: quota{down: 3, downOld: 5}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := world(tc.lim, tc.pods)
			got := computeQuota(count(w.Pods, w.bound), tc.lim, tc.rollback)
			if !tc.update {
				got.updateNum, got.updateMaxUnavailable = 0, 0
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(quota{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// step is what the tables compare.
type step struct {
	Action   Action
	Pod      string
	Revision string
	State    wire.LifecycleState
}

func firstPhase(p Plan) (string, []step) {
	if len(p.Phases) == 0 {
		return "", nil
	}
	var out []step
	for _, s := range p.Phases[0].Steps {
		out = append(out, step{s.Action, s.Pod, s.Revision, s.State})
	}
	return p.Phases[0].Name, out
}

func TestCompute(t *testing.T) {
	update := func(pod string) step { return step{UpdateInPlace, pod, newRevision, wire.LifecycleUpdating} }
	create := func(rev string) step { return step{Action: Create, Revision: rev} }
	remove := func(pod string) step { return step{Action: Delete, Pod: pod} }
	mark := func(pod string) step { return step{Action: MarkForRecreate, Pod: pod} }
	state := func(pod string, s wire.LifecycleState) step { return step{Action: SetState, Pod: pod, State: s} }
	cases := map[string]struct {
		lim    Limits
		pods   string
		adjust func(*World)
		want   []step
	}{
		"a settled world needs nothing": {lim: limits(3, 0, 1, 0), pods: "n+ n+ n+"},
		"CS-23: a set being deleted is left alone": {lim: limits(3, 0, 1, 0), pods: "n+",
			adjust: func(w *World) { w.Deleting = true }},
		"CS-78: old pods first up to the partition": {lim: limits(3, 2, 1, 0), pods: "",
			want: []step{create(oldRevision), create(oldRevision), create(newRevision)}},
		"CS-100: a replacement waits for the claims of a terminating pod": {lim: limits(3, 0, 1, 0), pods: "n+",
			adjust: func(w *World) { w.AwaitedClaims = 1 }, want: []step{create(newRevision)}},
		"CS-90: scale in takes old pods above the partition first": {lim: limits(2, 1, 1, 0), pods: "n+ o+ o+",
			want: []step{remove("web-001")}},
		"CS-91: a pod that is not ready goes before ready ones": {lim: limits(2, 0, 1, 0), pods: "n+ n- n+",
			want: []step{remove("web-001")}},
		"CS-91: deletion cost -100 goes before 0": {lim: limits(2, 0, 1, 0), pods: "n+ n+ n+",
			adjust: func(w *World) { w.Pods[2].Order.DeletionCost = -100 }, want: []step{remove("web-002")}},
		"CS-92: a stacked node is thinned first": {lim: limits(2, 0, 1, 0), pods: "n+ n+ n+",
			adjust: func(w *World) { w.Pods[0].Order.Node = "node-2" }, want: []step{remove("web-001")}},
		"CS-82: a specified pod that is not ready goes at once": {lim: limits(3, 0, 0, 0), pods: "n-d n+ n+",
			want: []step{remove("web-000")}},
		"CS-82: a ready specified pod waits for the limit": {lim: limits(3, 0, 0, 0), pods: "n+d n+ n+"},
		"CS-84: a held pod goes to PreparingDelete": {lim: limits(2, 0, 1, 0), pods: "n+d n+ n+",
			adjust: func(w *World) { w.Pods[0].HeldForDelete = true },
			want:   []step{state("web-000", wire.LifecyclePreparingDelete)}},
		"CS-76: a cancelled scale in takes the pod back": {lim: limits(3, 0, 1, 0), pods: "n+ n+ n+",
			adjust: func(w *World) {
				w.Pods[1].State, w.Pods[1].Available, w.Pods[1].HeldForDelete = wire.LifecyclePreparingDelete, false, true
			},
			want: []step{state("web-001", wire.LifecyclePreparingNormal)}},
		"C-28: a decided deletion is finished while creations are wanted": {lim: limits(3, 0, 1, 0), pods: "n+ n+",
			adjust: func(w *World) {
				w.Limits.ExcludePreparingDelete, w.Limits.ScaleMaxUnavailable = true, 1
				w.Pods[1].State, w.Pods[1].Available, w.Pods[1].Specified = wire.LifecyclePreparingDelete, false, true
			},
			want: []step{remove("web-001")}},
		"C-14: a pod held back by minReadySeconds alone may go": {lim: limits(1, 0, 0, 0), pods: "n+ n+",
			adjust: func(w *World) { w.Pods[1].Available = false }, want: []step{remove("web-001")}},
		"CS-109: in place within maxUnavailable": {lim: limits(5, 0, 2, 0), pods: "o+ o+ o+ o+ o+",
			want: []step{update("web-000"), update("web-001")}},
		"SO-3: priorities decide who goes first": {lim: limits(3, 0, 1, 0), pods: "o+ o+ o+",
			adjust: func(w *World) { w.Pods[2].Order.Rank.Weight = 10 }, want: []step{update("web-002")}},
		"SO-13: labelled pods are scattered": {lim: limits(6, 0, 1, 0), pods: "o+ o+ o+ o+ o+ o+",
			adjust: func(w *World) {
				w.Scatter = appsv1beta1.UpdateScatterStrategy{{Key: "tier", Value: "core"}}
				w.Pods[4].Labels, w.Pods[5].Labels = map[string]string{"tier": "core"}, map[string]string{"tier": "core"}
			},
			want: []step{update("web-004")}},
		"CS-109: the partition keeps old pods": {lim: limits(5, 4, 2, 0), pods: "o+ o+ o+ o+ o+",
			want: []step{update("web-000")}},
		"CS-109: a broken revision stops at maxUnavailable": {lim: limits(5, 0, 2, 0), pods: "n-u n-u o+ o+ o+"},
		"CS-109: an unavailable old pod is updated before the rest": {lim: limits(4, 0, 1, 0), pods: "o+ o- o+ o+",
			want: []step{update("web-001")}},
		"CS-105: OnDelete updates nothing": {lim: limits(2, 0, 1, 0), pods: "o+ o+",
			adjust: func(w *World) { w.Limits.OnDelete = true }},
		"CS-105: paused updates nothing, but refreshes": {lim: limits(2, 0, 1, 0), pods: "o+ o-",
			adjust: func(w *World) { w.Limits.Paused = true; w.Pods[1].InPlace.Due = true },
			want:   []step{{Action: Refresh, Pod: "web-001"}}},
		"CS-107: a pod in grace is left alone": {lim: limits(1, 0, 1, 0), pods: "o-u",
			adjust: func(w *World) { w.Pods[0].InPlace.InGrace = true }},
		"CS-114: ReCreate marks the pod": {lim: limits(2, 0, 1, 0), pods: "o+ o+",
			adjust: func(w *World) { w.Policy = ReCreate }, want: []step{mark("web-000")}},
		"CS-112: what does not qualify is recreated": {lim: limits(2, 0, 1, 0), pods: "o+ o+",
			adjust: func(w *World) { w.Refusals = map[Route]string{{"aaa", "bbb"}: "the container list changed"} },
			want:   []step{mark("web-000")}},
		"CS-113: InPlaceOnly refuses what does not qualify": {lim: limits(2, 0, 1, 0), pods: "o+ o+",
			adjust: func(w *World) {
				w.Policy, w.Refusals = InPlaceOnly, map[Route]string{{"aaa", "bbb"}: "the container list changed"}
			},
			want: []step{{Action: Refuse, Pod: "web-000", Revision: newRevision}}},
		"LC-7: a hooked pod prepares": {lim: limits(1, 0, 1, 0), pods: "o+",
			adjust: func(w *World) { w.Hooks.InPlaceUpdate, w.Pods[0].HeldForUpdate = true, true },
			want:   []step{state("web-000", wire.LifecyclePreparingUpdate)}},
		"LC-8: an unhooked pod goes on": {lim: limits(1, 0, 1, 0), pods: "o+",
			adjust: func(w *World) {
				w.Hooks.InPlaceUpdate, w.Pods[0].State, w.Pods[0].Available = true, wire.LifecyclePreparingUpdate, false
			},
			want: []step{update("web-000")}},
		"LC-9: the template went back": {lim: limits(1, 0, 1, 0), pods: "n+",
			adjust: func(w *World) {
				w.Hooks.InPlaceUpdate, w.Pods[0].State, w.Pods[0].Available = true, wire.LifecyclePreparingUpdate, false
			},
			want: []step{state("web-000", wire.LifecycleNormal)}},
		"LC-22: the partition was raised": {lim: limits(1, 1, 1, 0), pods: "o+",
			adjust: func(w *World) {
				w.Hooks.InPlaceUpdate, w.Pods[0].State, w.Pods[0].Available = true, wire.LifecyclePreparingUpdate, false
			},
			want: []step{state("web-000", wire.LifecycleNormal)}},
		"LC-22: while paused a prepared pod waits": {lim: limits(1, 0, 1, 0), pods: "o+",
			adjust: func(w *World) {
				w.Limits.Paused, w.Hooks.InPlaceUpdate = true, true
				w.Pods[0].State, w.Pods[0].Available = wire.LifecyclePreparingUpdate, false
			}},
		"LC-10: a completed update leads to Normal in the engine's own write": {lim: limits(1, 0, 1, 0), pods: "n-u",
			adjust: func(w *World) { w.Pods[0].InPlace = InPlace{Completed: true, Due: true} },
			want:   []step{{Action: Refresh, Pod: "web-000", State: wire.LifecycleNormal}}},
		"LC-10: with a hook it leads to Updated": {lim: limits(1, 0, 1, 0), pods: "n-u",
			adjust: func(w *World) {
				w.Hooks.InPlaceUpdate, w.Pods[0].UpdateHooked = true, false
				w.Pods[0].InPlace = InPlace{Completed: true}
			},
			want: []step{state("web-000", wire.LifecycleUpdated)}},
		"LC-12: an updated pod chosen again gets its hooks back": {lim: limits(1, 0, 1, 0), pods: "o+",
			adjust: func(w *World) {
				w.Hooks.InPlaceUpdate, w.Pods[0].UpdateHooked = true, false
				w.Pods[0].State, w.Pods[0].Available = wire.LifecycleUpdated, false
			},
			want: []step{state("web-000", wire.LifecyclePreparingUpdate)}},
		"LC-16: a pod in PreparingDelete is not updated": {lim: limits(1, 0, 1, 0), pods: "o+",
			adjust: func(w *World) {
				w.Hooks.MarkDeleteNotReady = true
				w.Pods[0].State, w.Pods[0].Available, w.Pods[0].HeldForDelete = wire.LifecyclePreparingDelete, false, true
			}},
		"LC-6: an unscheduled pod stays in PreparingNormal": {lim: limits(1, 0, 1, 0), pods: "n-",
			adjust: func(w *World) {
				w.Pods[0].State, w.Pods[0].Order.Node, w.Pods[0].InPlace.Due = wire.LifecyclePreparingNormal, "", true
			}},
		"LC-6: a scheduled pod becomes Normal in the engine's own write": {lim: limits(1, 0, 1, 0), pods: "n-",
			adjust: func(w *World) {
				w.Pods[0].State, w.Pods[0].InPlace.Due = wire.LifecyclePreparingNormal, true
			},
			want: []step{{Action: Refresh, Pod: "web-000", State: wire.LifecycleNormal}}},
		"CS-20: an old pod gets its template hash": {lim: limits(1, 0, 1, 0), pods: "n+",
			adjust: func(w *World) { w.Pods[0].LacksTemplateHash = true },
			want:   []step{{Action: SetTemplateHash, Pod: "web-000", Revision: newRevision}}},
		"C-23: a pod in PreparingUpdate counts as updated when scaling": {lim: limits(3, 2, 1, 0), pods: "o+ o+",
			adjust: func(w *World) {
				w.Pods[0].State, w.Pods[0].Available = wire.LifecyclePreparingUpdate, false
			},
			want: []step{create(oldRevision)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := world(tc.lim, tc.pods)
			if tc.adjust != nil {
				tc.adjust(w)
			}
			_, got := firstPhase(Compute(w))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestComputeSaysWhatHolds(t *testing.T) {
	t.Run("CS-77: a limited scale up is reported", func(t *testing.T) {
		lim := limits(4, 0, 1, 0)
		lim.ScaleMaxUnavailable = 1
		p := Compute(world(lim, "n-"))
		if p.ScaleUpLimit == nil || *p.ScaleUpLimit != 0 {
			t.Errorf("got %v, want a limit of 0", p.ScaleUpLimit)
		}
	})
	t.Run("CS-109: the budget is named", func(t *testing.T) {
		p := Compute(world(limits(3, 0, 1, 0), "n-u o+ o+"))
		if want := []string{"2 pods wait because maxUnavailable allows 1 unavailable pods"}; !cmp.Equal(p.Waiting, want) {
			t.Errorf("got %q, want %q", p.Waiting, want)
		}
	})
	t.Run("C-10: the next look is the earliest moment of availability", func(t *testing.T) {
		w := world(limits(2, 0, 1, 0), "n+ n+")
		w.Pods[0].Available, w.Pods[0].AvailableIn = false, 7*time.Second
		w.Pods[1].Available, w.Pods[1].AvailableIn = false, 3*time.Second
		if got := Compute(w).NextLook; got != 3*time.Second {
			t.Errorf("got %v", got)
		}
	})
}
