package cloneset

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/flotilla-k8s/flotilla/operators/workloads/cloneset/plan"
	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/gates"
	"github.com/flotilla-k8s/flotilla/shared/inplace"
	"github.com/flotilla-k8s/flotilla/shared/lifecycle"
	"github.com/flotilla-k8s/flotilla/shared/ordering"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
	"github.com/flotilla-k8s/flotilla/shared/revision"
	"github.com/flotilla-k8s/flotilla/shared/rollout"
)

// observed is the world of one pass and the objects it was read from.
type observed struct {
	plan.World

	history *history
	pods    map[string]*corev1.Pod // the active ones, by name
	// strays are active pods that the set owns but no longer selects (CS-58).
	strays  []*corev1.Pod
	changes map[plan.Route]*inplace.Change
	claims  claims
}

// observe reads everything the plan needs. It writes nothing.
func (r *Reconciler) observe(ctx context.Context, set *appsv1beta1.CloneSet, h *history) (*observed, error) {
	o := &observed{history: h, pods: map[string]*corev1.Pod{}, changes: map[plan.Route]*inplace.Change{}}
	o.World = plan.World{
		Now:               r.Clock.Now(),
		Deleting:          set.DeletionTimestamp != nil,
		Limits:            limitsOf(set, r.ExcludePreparingDelete),
		Hooks:             hooksOf(set.Spec.Lifecycle),
		Policy:            policyOf(set),
		Current:           h.current.Name,
		Update:            h.update.Name,
		Refusals:          map[plan.Route]string{},
		Scatter:           rollingOf(set).ScatterStrategy,
		PartitionRollback: r.Gates.Enabled(gates.CloneSetPartitionRollback),
	}
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("reading spec.selector: %w", err)
	}
	var list corev1.PodList
	if err := r.Client.List(ctx, &list, ownedBy(set)...); err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	priority, err := ordering.NewPriority(rollingOf(set).PriorityStrategy)
	if err != nil {
		return nil, fmt.Errorf("reading spec.updateStrategy.rollingUpdate: %w", err)
	}
	toDelete := sets.New(set.Spec.ScaleStrategy.PodsToDelete...)
	for i := range list.Items {
		pod := &list.Items[i]
		switch {
		case !podstate.IsActive(pod):
		case !o.Deleting && !selector.Matches(labelSet(pod)):
			o.strays = append(o.strays, pod)
		default:
			p := r.observePod(set, pod, o.Now)
			p.Specified = p.Specified || toDelete.Has(pod.Name)
			p.Order.Rank = priority.Rank(pod.Labels)
			o.pods[pod.Name] = pod
			o.Pods = append(o.Pods, p)
		}
	}
	if err := r.observeRoutes(set, o); err != nil {
		return nil, err
	}
	o.claims, err = r.observeClaims(ctx, set, list.Items)
	o.AwaitedClaims = o.claims.awaited
	return o, err
}

// observePod reads one pod into the plan's terms.
func (r *Reconciler) observePod(set *appsv1beta1.CloneSet, pod *corev1.Pod, now time.Time) plan.Pod {
	hooks := ptr.Deref(set.Spec.Lifecycle, appsv1beta1.Lifecycle{})
	p := plan.Pod{
		Name:              pod.Name,
		Revision:          pod.Labels[wire.LabelRevision],
		State:             podstate.Lifecycle(pod),
		Ready:             podstate.IsReady(pod),
		HeldForDelete:     lifecycle.Hooked(hooks.PreDelete, pod),
		HeldForUpdate:     lifecycle.Hooked(hooks.InPlaceUpdate, pod),
		NormalHooked:      hooks.PreNormal == nil || lifecycle.AllHooked(hooks.PreNormal, pod),
		UpdateHooked:      lifecycle.AllHooked(hooks.InPlaceUpdate, pod),
		LacksTemplateHash: pod.Labels[wire.LabelPodTemplateHash] == "",
		Labels:            pod.Labels,
		Order:             orderOf(pod),
	}
	_, p.Specified = pod.Labels[wire.LabelSpecifiedDelete]
	p.Available, p.AvailableIn = podstate.IsServiceable(pod, set.Spec.MinReadySeconds, now)
	p.InPlace = plan.InPlace(r.Engine.Look(pod, now))
	return p
}

// observeRoutes asks the engine, once per pair of revisions, whether pods can go there in place.
func (r *Reconciler) observeRoutes(set *appsv1beta1.CloneSet, o *observed) error {
	targets := []*appsv1.ControllerRevision{o.history.update}
	if o.PartitionRollback {
		targets = append(targets, o.history.current)
	}
	opts := inplace.Options{
		GraceSeconds:  graceSecondsOf(set),
		IgnoreVCTHash: o.Policy == plan.InPlaceOnly,
		Gates:         r.Engine.Gates,
	}
	for i := range o.Pods {
		for _, target := range targets {
			if err := o.addRoute(o.Pods[i].Revision, target, opts); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *observed) addRoute(from string, target *appsv1.ControllerRevision, opts inplace.Options) error {
	route := plan.Route{From: revision.ShortHash(from), To: revision.ShortHash(target.Name)}
	if _, known := o.Refusals[route]; known || o.changes[route] != nil {
		return nil
	}
	old := o.history.byHash(from)
	if old == nil {
		o.Refusals[route] = fmt.Sprintf("its revision %s is no longer in the history", from)
		return nil
	}
	change, refusal, err := inplace.Compute(old, target, opts)
	switch {
	case err != nil:
		return fmt.Errorf("comparing revisions %s and %s: %w", old.Name, target.Name, err)
	case change == nil:
		o.Refusals[route] = refusal
	default:
		o.changes[route] = change
	}
	return nil
}

// limitsOf resolves the limits of the spec to numbers of pods (CS-62 to CS-65).
func limitsOf(set *appsv1beta1.CloneSet, excludePreparingDelete bool) plan.Limits {
	replicas := int(ptr.Deref(set.Spec.Replicas, 1))
	rolling := rollingOf(set)
	lim := plan.Limits{
		Replicas:               replicas,
		OnDelete:               set.Spec.UpdateStrategy.Type == appsv1beta1.OnDeleteCloneSetUpdateStrategyType,
		ScaleMaxUnavailable:    rollout.ScaleMaxUnavailable(set.Spec.ScaleStrategy.MaxUnavailable, replicas),
		ExcludePreparingDelete: excludePreparingDelete || set.Spec.ScaleStrategy.ExcludePreparingDelete,
	}
	if lim.OnDelete {
		// Of the rollingUpdate block only maxUnavailable counts (C-2, C-8, CS-125).
		lim.MaxUnavailable = rollout.MaxUnavailable(rolling.MaxUnavailable, replicas, true)
		return lim
	}
	lim.Paused = rolling.Paused
	lim.Partition = rollout.Partition(rolling.Partition, replicas)
	if !lim.Paused {
		lim.Surge = rollout.MaxSurge(rolling.MaxSurge, replicas)
	}
	lim.MaxUnavailable = rollout.MaxUnavailable(rolling.MaxUnavailable, replicas, lim.Surge == 0)
	return lim
}

func hooksOf(l *appsv1beta1.Lifecycle) plan.Hooks {
	if l == nil {
		return plan.Hooks{}
	}
	return plan.Hooks{
		InPlaceUpdate:      l.InPlaceUpdate != nil,
		MarkUpdateNotReady: l.InPlaceUpdate != nil && l.InPlaceUpdate.MarkPodNotReady,
		MarkDeleteNotReady: l.PreDelete != nil && l.PreDelete.MarkPodNotReady,
	}
}

// rollingOf is the rollingUpdate block, empty if there is none.
func rollingOf(set *appsv1beta1.CloneSet) appsv1beta1.RollingUpdateCloneSetStrategy {
	return ptr.Deref(set.Spec.UpdateStrategy.RollingUpdate, appsv1beta1.RollingUpdateCloneSetStrategy{})
}

func policyOf(set *appsv1beta1.CloneSet) plan.Policy {
	return plan.Policy(cmp.Or(rollingOf(set).PodUpdatePolicy, appsv1beta1.RecreatePodUpdateStrategyType))
}

func graceSecondsOf(set *appsv1beta1.CloneSet) int32 {
	return ptr.Deref(rollingOf(set).InPlaceUpdateStrategy, appsv1beta1.InPlaceUpdateStrategy{}).GracePeriodSeconds
}

func orderOf(pod *corev1.Pod) plan.Order {
	o := plan.Order{Node: pod.Spec.NodeName, Phase: pod.Status.Phase, Created: pod.CreationTimestamp.Time}
	if ready := podstate.Condition(pod, corev1.PodReady); podstate.IsTrue(ready) {
		o.ConditionReady, o.ReadySince = true, ready.LastTransitionTime.Time
	}
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range statuses {
			o.Restarts = max(o.Restarts, statuses[i].RestartCount)
		}
	}
	o.DeletionCost = deletionCost(pod)
	return o
}

// deletionCost reads the annotation of CS-91; what is malformed counts as 0, a leading plus sign or
// zero included.
func deletionCost(pod *corev1.Pod) int32 {
	text := pod.Annotations[corev1.PodDeletionCost]
	cost, err := strconv.ParseInt(text, 10, 32)
	if err != nil || strconv.FormatInt(cost, 10) != text {
		return 0
	}
	return int32(cost)
}
