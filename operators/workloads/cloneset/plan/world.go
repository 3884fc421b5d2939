// Package plan knows what a CloneSet does next.
//
// It is pure: Compute and Summarize are functions of a World, which observe fills from the cache. The
// package knows no client, no context and no clock, so every rule is tested in microseconds.
//
// The numbers follow section 10 of the CloneSet specification (CS-62 to CS-75), the phases sections
// 11 and 14. Order of input never matters: ties are broken by name.
package plan

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"

	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/ordering"
)

// Unlimited is the scale-up limit of a set without scaleStrategy.maxUnavailable.
const Unlimited = math.MaxInt32

// Policy says how pods get to a new revision.
type Policy string

// The policies, in the words of the API.
const (
	ReCreate          Policy = "ReCreate"
	InPlaceIfPossible Policy = "InPlaceIfPossible"
	InPlaceOnly       Policy = "InPlaceOnly"
)

// World is everything one pass knows. Pods holds the active pods owned by the set.
type World struct {
	Now      time.Time
	Deleting bool // the set itself is being deleted: nothing is scaled or updated (CS-23)

	Limits Limits
	Hooks  Hooks
	Policy Policy

	// Current and Update name the stable revision and the wanted one.
	Current, Update string
	// Refusals tells why pods cannot go from one revision to another in place. A route that is absent
	// here can be taken; one from a revision that no longer exists must be listed.
	Refusals map[Route]string

	Pods []Pod
	// AwaitedClaims counts terminating pods whose claims their replacements will take: so many
	// creations wait (CS-100).
	AwaitedClaims int

	// Scatter spreads the pods of these labels over the update.
	Scatter appsv1beta1.UpdateScatterStrategy

	// PartitionRollback lets a raised partition move pods back to the current revision (CS-122).
	PartitionRollback bool
}

// Route leads from one revision to another, both by short hash.
type Route struct{ From, To string }

// Limits are the numbers of the spec, resolved to pods (CS-62 to CS-65).
type Limits struct {
	Replicas  int
	Partition int // pods to keep at old revisions
	// Surge and MaxUnavailable bound the update; Surge is 0 while paused.
	Surge, MaxUnavailable int
	// ScaleMaxUnavailable bounds creation only; Unlimited by default.
	ScaleMaxUnavailable    int
	ExcludePreparingDelete bool
	Paused, OnDelete       bool
}

// Hooks tells which lifecycle hooks exist and whether they make the pod not ready.
type Hooks struct {
	InPlaceUpdate      bool // the inPlaceUpdate hook has a handler
	MarkUpdateNotReady bool
	MarkDeleteNotReady bool
}

// Pod is what the plan needs to know of one active pod.
type Pod struct {
	Name     string
	Revision string // value of the revision label, full name or short hash
	State    wire.LifecycleState

	// Ready: Running, condition Ready, InPlaceUpdateReady not False. Lifecycle does not count.
	Ready bool
	// Available: ready for minReadySeconds, and in no lifecycle state but Normal (CS-66).
	Available bool
	// AvailableIn is how long minReadySeconds alone still holds the pod back; 0 if it does not.
	AvailableIn time.Duration

	// Specified: the user, or a recreate update, asked to delete this pod.
	Specified bool
	// HeldForDelete and HeldForUpdate: the hook blocks this pod (LC-1).
	HeldForDelete, HeldForUpdate bool
	// NormalHooked: there is no preNormal hook, or all of it is on the pod. UpdateHooked: every handler
	// of inPlaceUpdate is on the pod (LC-2).
	NormalHooked, UpdateHooked bool

	// InPlace is what the engine says of the pod.
	InPlace InPlace
	// LacksTemplateHash: the pod was made before label pod-template-hash existed (CS-20).
	LacksTemplateHash bool

	Order Order
	// Labels are read only, and only for Scatter.
	Labels map[string]string
}

// InPlace is the engine's view of a pod.
type InPlace struct {
	// Due: a refresh has something to write now (next batch, end of grace, condition back to True).
	Due bool
	// InGrace: an update waits for its grace period.
	InGrace bool
	// Completed: no update is in flight (IP-71).
	Completed bool
	// Waiting says in words what an unfinished update waits for.
	Waiting string
	// RequeueAfter is when to look again without any event; 0 for never.
	RequeueAfter time.Duration
}

// Order holds what pods are sorted by (SO-2, SO-3, CS-91).
type Order struct {
	Rank           ordering.Rank
	Node           string
	Phase          corev1.PodPhase
	ConditionReady bool      // the Ready condition alone
	ReadySince     time.Time // zero when unknown
	Restarts       int32
	Created        time.Time
	DeletionCost   int32
}

// updated tells whether the pod carries the update revision's label, in its full or its short form
// (RV-11).
func (w *World) updated(p *Pod) bool {
	return sameRevision(p.Revision, w.Update)
}

// bound tells whether the pod was or will be at the update revision when scaling is computed: a pod
// that waits in PreparingUpdate is on its way (C-23, RV-13).
func (w *World) bound(p *Pod) bool {
	return w.updated(p) || p.State == wire.LifecyclePreparingUpdate
}
