package plan

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// The revisions of the test worlds.
const (
	oldRevision = "web-aaa"
	newRevision = "web-bbb"
)

// pods reads the notation of section 20 of the specification: "n+ o- n+d", where n and o are the
// update and an old revision, + and - available or not, d specified for deletion, u Updating.
func pods(notation string) []Pod {
	var out []Pod
	for i, word := range strings.Fields(notation) {
		p := Pod{Name: fmt.Sprintf("web-%03d", i), Revision: oldRevision, State: wire.LifecycleNormal,
			NormalHooked: true, UpdateHooked: true,
			InPlace: InPlace{Completed: true},
			Order:   Order{Node: "node-1", Phase: corev1.PodRunning, Created: epoch}}
		if word[0] == 'n' {
			p.Revision = newRevision
		}
		p.Ready = word[1] == '+'
		p.Available, p.Order.ConditionReady = p.Ready, p.Ready
		for _, flag := range word[2:] {
			switch flag {
			case 'd':
				p.Specified = true
			case 'u':
				p.State, p.Available = wire.LifecycleUpdating, false
				p.InPlace.Completed = false
			}
		}
		out = append(out, p)
	}
	return out
}

// world is a set in the middle of a roll-out under InPlaceIfPossible.
func world(lim Limits, notation string) *World {
	return &World{Now: epoch, Limits: lim, Policy: InPlaceIfPossible,
		Current: oldRevision, Update: newRevision, Pods: pods(notation)}
}

func limits(replicas, partition, maxUnavailable, surge int) Limits {
	return Limits{Replicas: replicas, Partition: partition, MaxUnavailable: maxUnavailable, Surge: surge,
		ScaleMaxUnavailable: Unlimited}
}

// genWorld makes an arbitrary world, settled or not.
func genWorld(t *rapid.T) *World {
	replicas := rapid.IntRange(0, 12).Draw(t, "replicas")
	lim := limits(replicas,
		rapid.IntRange(0, replicas).Draw(t, "partition"),
		rapid.IntRange(0, 4).Draw(t, "maxUnavailable"),
		rapid.IntRange(0, 3).Draw(t, "surge"))
	if rapid.Bool().Draw(t, "limitedScale") {
		lim.ScaleMaxUnavailable = rapid.IntRange(1, 4).Draw(t, "scaleMaxUnavailable")
	}
	lim.ExcludePreparingDelete = rapid.Bool().Draw(t, "excludePreparingDelete")
	w := &World{Now: epoch, Limits: lim, Current: oldRevision, Update: newRevision,
		Policy: rapid.SampledFrom([]Policy{ReCreate, InPlaceIfPossible, InPlaceOnly}).Draw(t, "policy")}
	w.PartitionRollback = rapid.Bool().Draw(t, "rollback")
	w.Hooks.InPlaceUpdate = rapid.Bool().Draw(t, "inPlaceUpdateHook")
	n := rapid.IntRange(0, 14).Draw(t, "pods")
	for i := range n {
		w.Pods = append(w.Pods, genPod(t, i))
	}
	return w
}

func genPod(t *rapid.T, i int) Pod {
	p := Pod{Name: fmt.Sprintf("web-%03d", i)}
	p.Revision = rapid.SampledFrom([]string{oldRevision, newRevision, "web-ccc", "bbb"}).Draw(t, "revision")
	p.State = rapid.SampledFrom([]wire.LifecycleState{"", wire.LifecyclePreparingNormal, wire.LifecycleNormal,
		wire.LifecyclePreparingUpdate, wire.LifecycleUpdating, wire.LifecycleUpdated, wire.LifecyclePreparingDelete}).Draw(t, "state")
	p.Ready = rapid.Bool().Draw(t, "ready")
	p.Order.ConditionReady = p.Ready
	p.Available = p.Ready && (p.State == "" || p.State == wire.LifecycleNormal) && rapid.IntRange(0, 3).Draw(t, "late") > 0
	p.Specified = rapid.IntRange(0, 5).Draw(t, "specified") == 0
	p.HeldForDelete = rapid.IntRange(0, 3).Draw(t, "heldForDelete") == 0
	p.HeldForUpdate = rapid.IntRange(0, 3).Draw(t, "heldForUpdate") == 0
	p.NormalHooked = rapid.Bool().Draw(t, "normalHooked")
	p.UpdateHooked = rapid.Bool().Draw(t, "updateHooked")
	p.InPlace.Completed = p.State != wire.LifecycleUpdating || rapid.Bool().Draw(t, "completed")
	p.InPlace.InGrace = !p.InPlace.Completed && rapid.Bool().Draw(t, "inGrace")
	p.InPlace.Due = rapid.IntRange(0, 4).Draw(t, "due") == 0
	p.Order.Node = rapid.SampledFrom([]string{"", "node-1", "node-2"}).Draw(t, "node")
	p.Order.Phase = rapid.SampledFrom([]corev1.PodPhase{corev1.PodPending, corev1.PodRunning}).Draw(t, "phase")
	p.Order.Restarts = int32(rapid.IntRange(0, 2).Draw(t, "restarts"))
	p.Order.Created = epoch.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "age")) * time.Minute)
	return p
}
