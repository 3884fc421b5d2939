// Package rollout knows how to read the limits of a rollout that a user may state as a number of
// pods or as a percentage of replicas. Admission and controllers read them here and nowhere else
// (C-30), so what is accepted is also what is obeyed.
package rollout

import (
	"math"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// defaultMaxUnavailable stands in where spec.updateStrategy.rollingUpdate.maxUnavailable is unset.
const defaultMaxUnavailable = "20%"

// Partition returns how many of replicas pods stay in old revisions, 0 to replicas. An absent value
// is 0. A percentage is rounded up, except that any text but "100%" leaves at least one of several
// pods to be updated. A value that Validate refuses counts as 0. Source: CS-62.
func Partition(p *intstr.IntOrString, replicas int) int {
	if p == nil {
		return 0
	}
	limit, err := parse(*p)
	if err != nil {
		return 0
	}
	pods := limit.of(replicas, roundUp)
	if limit.percent && pods == replicas && replicas > 1 && p.StrVal != "100%" {
		pods = replicas - 1
	}
	return min(pods, replicas)
}

// MaxSurge returns how many pods may exist above replicas during a rollout, never negative. A
// percentage is rounded up, an absent value is 0, and so is one that Validate refuses. A paused
// rollout has no surge, which the caller knows. Source: CS-63.
func MaxSurge(v *intstr.IntOrString, replicas int) int {
	return resolve(v, replicas, 0, roundUp)
}

// MaxUnavailable returns how many of replicas pods may be unavailable during a rollout, never
// negative. An absent value is 20%. A percentage is rounded up if up is true and down otherwise:
// callers round up where there is no surge that could make progress instead. A value that Validate
// refuses counts as 0: it holds the rollout. Source: CS-64, C-8.
func MaxUnavailable(v *intstr.IntOrString, replicas int, up bool) int {
	if v == nil {
		fallback := intstr.FromString(defaultMaxUnavailable)
		v = &fallback
	}
	return resolve(v, replicas, 0, rounding(up))
}

// ScaleMaxUnavailable returns how many pods may be unavailable while new ones are created, never
// negative; math.MaxInt32 means no limit, which an absent value asks for. A percentage is rounded
// up. A value that Validate refuses counts as 0: nothing is created. Source: CS-65.
func ScaleMaxUnavailable(v *intstr.IntOrString, replicas int) int {
	return resolve(v, replicas, math.MaxInt32, roundUp)
}

// resolve returns the pods that v allows: absent if there is no value, 0 if it cannot be read.
func resolve(v *intstr.IntOrString, replicas, absent int, r rounding) int {
	if v == nil {
		return absent
	}
	limit, err := parse(*v)
	if err != nil {
		return 0
	}
	return limit.of(replicas, r)
}
