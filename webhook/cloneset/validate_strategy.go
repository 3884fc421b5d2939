package cloneset

import (
	"fmt"
	"strconv"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/rollout"
)

// scaleStrategyErrors implements the first half of CS-33, and C-13.
func scaleStrategyErrors(strategy *v1beta1.CloneSetScaleStrategy, path *field.Path) field.ErrorList {
	errs := limitErrors(strategy.MaxUnavailable, path.Child("maxUnavailable"))
	seen := sets.New[string]()
	for i, name := range strategy.PodsToDelete {
		if seen.Has(name) {
			errs = append(errs, field.Duplicate(path.Child("podsToDelete").Index(i), name))
		}
		seen.Insert(name)
	}
	return errs
}

// updateStrategyErrors implements CS-34 to CS-39 and CS-41. Under OnDelete nothing of rollingUpdate but
// maxUnavailable is used, so nothing else is judged (C-2).
func updateStrategyErrors(spec *v1beta1.CloneSetSpec, path *field.Path) field.ErrorList {
	rolling := spec.UpdateStrategy.RollingUpdate
	rollingPath := path.Child("rollingUpdate")
	switch spec.UpdateStrategy.Type {
	case v1beta1.OnDeleteCloneSetUpdateStrategyType:
		if rolling == nil {
			return nil
		}
		return limitErrors(rolling.MaxUnavailable, rollingPath.Child("maxUnavailable"))
	case v1beta1.RollingUpdateCloneSetUpdateStrategyType, "":
		if rolling == nil {
			return nil
		}
		return rollingUpdateErrors(rolling, replicasOf(spec), rollingPath)
	default:
		return field.ErrorList{field.NotSupported(path.Child("type"), spec.UpdateStrategy.Type, []v1beta1.CloneSetUpdateStrategyType{
			v1beta1.RollingUpdateCloneSetUpdateStrategyType, v1beta1.OnDeleteCloneSetUpdateStrategyType,
		})}
	}
}

func rollingUpdateErrors(rolling *v1beta1.RollingUpdateCloneSetStrategy, replicas int, path *field.Path) field.ErrorList {
	errs := podUpdatePolicyErrors(rolling.PodUpdatePolicy, path.Child("podUpdatePolicy"))
	errs = append(errs, limitErrors(rolling.Partition, path.Child("partition"))...)
	limits := limitErrors(rolling.MaxUnavailable, path.Child("maxUnavailable"))
	limits = append(limits, limitErrors(rolling.MaxSurge, path.Child("maxSurge"))...)
	if len(limits) == 0 {
		limits = paceErrors(rolling, replicas, path)
	}
	errs = append(errs, limits...)
	errs = append(errs, priorityErrors(rolling.PriorityStrategy, path.Child("priorityStrategy"))...)
	errs = append(errs, scatterErrors(rolling.ScatterStrategy, path.Child("scatterStrategy"))...)
	return append(errs, inPlaceErrors(rolling.InPlaceUpdateStrategy, path.Child("inPlaceUpdateStrategy"))...)
}

func podUpdatePolicyErrors(policy v1beta1.PodUpdateStrategyType, path *field.Path) field.ErrorList {
	allowed := []v1beta1.PodUpdateStrategyType{
		v1beta1.RecreatePodUpdateStrategyType,
		v1beta1.InPlaceIfPossiblePodUpdateStrategyType,
		v1beta1.InPlaceOnlyPodUpdateStrategyType,
	}
	if policy == "" || sets.New(allowed...).Has(policy) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, policy, allowed)}
}

// paceErrors implements CS-37 and CS-38 for limits that can be read. Percentages are rounded up.
func paceErrors(rolling *v1beta1.RollingUpdateCloneSetStrategy, replicas int, path *field.Path) field.ErrorList {
	surge := rollout.MaxSurge(rolling.MaxSurge, replicas)
	if surge > 0 && rolling.PodUpdatePolicy == v1beta1.InPlaceOnlyPodUpdateStrategyType {
		return field.ErrorList{field.Invalid(path.Child("maxSurge"), rolling.MaxSurge.String(), "must be 0 with the policy InPlaceOnly")}
	}
	unavailable := rollout.MaxUnavailable(rolling.MaxUnavailable, replicas, true)
	if replicas > 0 && surge == 0 && unavailable == 0 {
		return field.ErrorList{field.Invalid(path.Child("maxUnavailable"), rolling.MaxUnavailable.String(),
			"must allow at least one pod while maxSurge allows none, or no pod could ever be updated")}
	}
	return nil
}

// priorityErrors implements SO-3.
func priorityErrors(strategy *v1beta1.UpdatePriorityStrategy, path *field.Path) field.ErrorList {
	if strategy == nil {
		return nil
	}
	var errs field.ErrorList
	if len(strategy.WeightPriority) > 0 && len(strategy.OrderPriority) > 0 {
		errs = append(errs, field.Forbidden(path, "only one of weightPriority and orderPriority may be given"))
	}
	for i := range strategy.WeightPriority {
		errs = append(errs, weightErrors(&strategy.WeightPriority[i], path.Child("weightPriority").Index(i))...)
	}
	for i, term := range strategy.OrderPriority {
		if term.OrderedKey == "" {
			errs = append(errs, field.Required(path.Child("orderPriority").Index(i).Child("orderedKey"), "must name a pod label"))
		}
	}
	return errs
}

func weightErrors(term *v1beta1.UpdatePriorityWeightTerm, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if term.Weight < 0 || term.Weight > 100 {
		errs = append(errs, field.Invalid(path.Child("weight"), term.Weight, "must be 0 to 100"))
	}
	selectorPath := path.Child("matchSelector")
	if len(term.MatchSelector.MatchLabels)+len(term.MatchSelector.MatchExpressions) == 0 {
		return append(errs, field.Required(selectorPath, "must have matchLabels or matchExpressions"))
	}
	return append(errs, metav1validation.ValidateLabelSelector(&term.MatchSelector, metav1validation.LabelSelectorValidationOptions{}, selectorPath)...)
}

// scatterErrors implements SO-8.
func scatterErrors(strategy v1beta1.UpdateScatterStrategy, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[v1beta1.UpdateScatterTerm]()
	for i, term := range strategy {
		if term.Key == "" {
			errs = append(errs, field.Required(path.Index(i).Child("key"), "must name a pod label"))
		} else if seen.Has(term) {
			errs = append(errs, field.Duplicate(path.Index(i), fmt.Sprintf("%s=%s", term.Key, term.Value)))
		}
		seen.Insert(term)
	}
	return errs
}

// inPlaceErrors implements CS-41, and C-13 for the grace period.
func inPlaceErrors(strategy *v1beta1.InPlaceUpdateStrategy, path *field.Path) field.ErrorList {
	if strategy == nil {
		return nil
	}
	errs := nonNegative(&strategy.GracePeriodSeconds, path.Child("gracePeriodSeconds"))
	if p := strategy.ImagePreDownloadParallelism; p != nil && !isCount(*p) {
		errs = append(errs, field.Invalid(path.Child("imagePreDownloadParallelism"), p.String(), "must be a whole number, 0 or more"))
	}
	errs = append(errs, nonNegative(strategy.ImagePreDownloadTimeoutSeconds, path.Child("imagePreDownloadTimeoutSeconds"))...)
	return append(errs, nonNegative(strategy.ImagePreDownloadMinUpdatedReadyPods, path.Child("imagePreDownloadMinUpdatedReadyPods"))...)
}

// isCount reports whether v is a whole number of 0 or more, as an int or as text.
func isCount(v intstr.IntOrString) bool {
	if v.Type == intstr.Int {
		return v.IntVal >= 0
	}
	_, err := strconv.ParseUint(v.StrVal, 10, 31)
	return err == nil
}

// lifecycleErrors refuses labels and finalizers that no pod can carry, since a hook that waits for them
// would wait for ever (C-13).
func lifecycleErrors(lifecycle *v1beta1.Lifecycle, path *field.Path) field.ErrorList {
	if lifecycle == nil {
		return nil
	}
	errs := hookErrors(lifecycle.PreDelete, path.Child("preDelete"))
	errs = append(errs, hookErrors(lifecycle.InPlaceUpdate, path.Child("inPlaceUpdate"))...)
	return append(errs, hookErrors(lifecycle.PreNormal, path.Child("preNormal"))...)
}

func hookErrors(hook *v1beta1.LifecycleHook, path *field.Path) field.ErrorList {
	if hook == nil {
		return nil
	}
	errs := metav1validation.ValidateLabels(hook.LabelsHandler, path.Child("labelsHandler"))
	for i, name := range hook.FinalizersHandler {
		errs = append(errs, apivalidation.ValidateFinalizerName(name, path.Child("finalizersHandler").Index(i))...)
	}
	return errs
}

// limitErrors refuses a limit that the controller could not read. Source: CS-35, CS-36, C-30.
func limitErrors(v *intstr.IntOrString, path *field.Path) field.ErrorList {
	if v == nil {
		return nil
	}
	if err := rollout.Validate(*v); err != nil {
		return field.ErrorList{field.Invalid(path, v.String(), err.Error())}
	}
	return nil
}

// replicasOf returns the replicas of a spec, 1 where it leaves them to the default.
func replicasOf(spec *v1beta1.CloneSetSpec) int {
	if spec.Replicas == nil {
		return 1
	}
	return int(*spec.Replicas)
}
