package plan

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

func available(w *World) int {
	n := 0
	for i := range w.Pods {
		countIf(&n, w.Pods[i].Available)
	}
	return n
}

func countIf(n *int, yes bool) {
	if yes {
		*n++
	}
}

// TestAnyWorld states what holds for every plan of every world.
func TestAnyWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := genWorld(t)
		p := Compute(w)
		byPod := map[string]*Pod{}
		for i := range w.Pods {
			byPod[w.Pods[i].Name] = &w.Pods[i]
		}
		lost, startedNew := 0, 0
		if len(p.Phases) > 0 {
			for _, s := range p.Phases[0].Steps {
				pod := byPod[s.Pod]
				if s.Action == Create {
					startedNew++
					continue
				}
				if s.Action == Delete && pod.HeldForDelete {
					t.Fatalf("LC-13: %s is deleted although its hook holds it", s.Pod)
				}
				if s.Action == UpdateInPlace && pod.HeldForUpdate && pod.State != wire.LifecycleUpdating {
					t.Fatalf("LC-7: %s is updated although its hook holds it", s.Pod)
				}
				if s.Action == UpdateInPlace && pod.InPlace.InGrace {
					t.Fatalf("IP-66: %s is updated in its grace period", s.Pod)
				}
				takesAway := s.Action == Delete || s.Action == UpdateInPlace || (s.Action == SetState && s.State != wire.LifecycleNormal)
				countIf(&lost, takesAway && pod.Available)
			}
		}
		// What this pass takes away never exceeds the budget: maxUnavailable, plus what there is too much.
		if budget := max(w.Limits.MaxUnavailable+len(w.Pods)-w.Limits.Replicas, 0); lost > budget {
			t.Fatalf("CS-73, CS-75: %d available pods are taken away, the budget is %d", lost, budget)
		}
		if total := len(w.Pods) + startedNew; startedNew > 0 && !w.Limits.ExcludePreparingDelete &&
			total > w.Limits.Replicas+w.Limits.Surge {
			t.Fatalf("CS-70: %d pods are more than %d replicas and %d surge", total, w.Limits.Replicas, w.Limits.Surge)
		}
	})
}

func TestOneStepPerPod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, phase := range Compute(genWorld(t)).Phases {
			seen := map[string]bool{}
			for _, s := range phase.Steps {
				if s.Pod != "" && seen[s.Pod] {
					t.Fatalf("%s has two steps in one phase", s.Pod)
				}
				seen[s.Pod] = true
			}
		}
	})
}

func TestOrderOfInputIsIrrelevant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := genWorld(t)
		before := Compute(w)
		shuffled := *w
		shuffled.Pods = slices.Clone(w.Pods)
		rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)).Shuffle(len(shuffled.Pods), func(i, j int) {
			shuffled.Pods[i], shuffled.Pods[j] = shuffled.Pods[j], shuffled.Pods[i]
		})
		sortSteps := func(p Plan) Plan {
			for _, phase := range p.Phases {
				slices.SortStableFunc(phase.Steps, func(a, b Step) int { return byName(&Pod{Name: a.Pod}, &Pod{Name: b.Pod}) })
			}
			return p
		}
		if diff := cmp.Diff(sortSteps(before), sortSteps(Compute(&shuffled))); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestRolloutEnds runs whole roll-outs in a cluster that works: they end, within the budget at every
// pass, with the pods where replicas and partition want them.
func TestRolloutEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := genWorld(t)
		w.Limits.MaxUnavailable = max(w.Limits.MaxUnavailable, 1)
		w.Limits.ScaleMaxUnavailable = Unlimited
		w.Limits.Surge = 0
		if w.Policy == InPlaceOnly {
			w.Policy = InPlaceIfPossible
		}
		s := &simulator{w: w}
		if passes, ended := s.run(400, func() {}); !ended {
			t.Fatalf("not settled after %d passes: %+v", passes, Compute(w))
		}
		if len(w.Pods) != w.Limits.Replicas {
			t.Fatalf("settled with %d pods, want %d", len(w.Pods), w.Limits.Replicas)
		}
		old := 0
		for i := range w.Pods {
			countIf(&old, !w.updated(&w.Pods[i]))
		}
		if old > w.Limits.Partition {
			t.Fatalf("%d pods are at old revisions, the partition is %d", old, w.Limits.Partition)
		}
	})
}

// TestPartitionKeepsOldPods: from all pods at the old revision, at no pass are fewer than partition
// pods left there, and never more than maxUnavailable are down.
func TestPartitionKeepsOldPods(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		replicas := rapid.IntRange(1, 12).Draw(t, "replicas")
		lim := limits(replicas, rapid.IntRange(0, replicas).Draw(t, "partition"), rapid.IntRange(1, 4).Draw(t, "maxUnavailable"), 0)
		notation := ""
		for range replicas {
			notation += "o+ "
		}
		s := &simulator{w: world(lim, notation)}
		s.w.Policy = rapid.SampledFrom([]Policy{ReCreate, InPlaceIfPossible}).Draw(t, "policy")
		if rapid.Bool().Draw(t, "brokenImage") {
			s.broken = map[string]bool{newRevision: true}
		}
		_, ended := s.run(300, func() {
			old := 0
			for i := range s.w.Pods {
				countIf(&old, s.w.Pods[i].Revision == oldRevision)
			}
			if down := replicas - available(s.w); down > lim.MaxUnavailable {
				t.Fatalf("%d of %d pods are down, maxUnavailable is %d", down, replicas, lim.MaxUnavailable)
			}
			if old < lim.Partition && s.w.Policy != ReCreate {
				t.Fatalf("%d pods are left at the old revision, the partition is %d", old, lim.Partition)
			}
		})
		if !ended {
			t.Fatal("the roll-out did not come to rest")
		}
	})
}
