package cloneset

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/operators/workloads/cloneset/plan"
	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
)

// The conditions of a CloneSet. All are written by this controller only.
//
//	FailedScale    True: the last scale phase ran into an error     absent: it did not
//	FailedUpdate   True: the last update phase ran into an error    absent: it did not
//	Progressing    only with progressDeadlineSeconds; False: the deadline passed
//	Ready          True: all wanted pods are there and available
//	Reconciling    True: something is still to be done              absent: nothing is
//	Stalled        True: nothing goes on until the user acts        absent: it does
//
// The last three are what kstatus and the tools built on it look at; their messages say in words what is
// waited for.
const (
	conditionReady       appsv1beta1.CloneSetConditionType = "Ready"
	conditionReconciling appsv1beta1.CloneSetConditionType = "Reconciling"
	conditionStalled     appsv1beta1.CloneSetConditionType = "Stalled"
)

// Reasons of the conditions that the reference does not have.
const (
	reasonAllAvailable = "AllPodsAvailable"
	reasonUnavailable  = "PodsUnavailable"
	reasonInProgress   = "InProgress"
	reasonRefused      = "UpdateRefused"
)

// conditions is the list of a status while it is computed.
type conditions struct {
	list []appsv1beta1.CloneSetCondition
	now  metav1.Time
}

func (c *conditions) get(kind appsv1beta1.CloneSetConditionType) *appsv1beta1.CloneSetCondition {
	i := slices.IndexFunc(c.list, func(have appsv1beta1.CloneSetCondition) bool { return have.Type == kind })
	if i < 0 {
		return nil
	}
	return &c.list[i]
}

func (c *conditions) remove(kind appsv1beta1.CloneSetConditionType) {
	c.list = slices.DeleteFunc(c.list, func(have appsv1beta1.CloneSetCondition) bool { return have.Type == kind })
}

// failed sets or clears a failure condition (C-9). Its message follows the latest error.
func (c *conditions) failed(kind appsv1beta1.CloneSetConditionType, err error) {
	if err == nil {
		c.remove(kind)
		return
	}
	c.set(appsv1beta1.CloneSetCondition{Type: kind, Status: corev1.ConditionTrue, Message: err.Error()})
}

// outlook sets the conditions of kstatus. A passed deadline stalls the set too.
func (c *conditions) outlook(o plan.Outlook) {
	ready := appsv1beta1.CloneSetCondition{Type: conditionReady, Status: corev1.ConditionTrue, Reason: reasonAllAvailable, Message: o.Message}
	if !o.Ready {
		ready.Status, ready.Reason = corev1.ConditionFalse, reasonUnavailable
	}
	c.set(ready)
	stalled := appsv1beta1.CloneSetCondition{Type: conditionStalled, Status: corev1.ConditionTrue, Reason: reasonRefused, Message: o.Message}
	progressing := c.get(appsv1beta1.CloneSetConditionTypeProgressing)
	if progressing != nil && progressing.Status == corev1.ConditionFalse {
		o.Stalled, stalled.Reason = true, progressing.Reason
	}
	c.only(o.Stalled, stalled)
	c.only(o.Reconciling && !o.Stalled, appsv1beta1.CloneSetCondition{
		Type: conditionReconciling, Status: corev1.ConditionTrue, Reason: reasonInProgress, Message: o.Message})
}

// only has the condition in the list while it holds.
func (c *conditions) only(holds bool, wanted appsv1beta1.CloneSetCondition) {
	if !holds {
		c.remove(wanted.Type)
		return
	}
	c.set(wanted)
}

// set puts a condition in the place of the one of its type, if they differ. The transition time moves
// only with the status (CS-14). An update time that is given is part of the condition, as the start of a
// clock; otherwise it is when the text changed.
func (c *conditions) set(wanted appsv1beta1.CloneSetCondition) {
	clock := !wanted.LastUpdateTime.IsZero()
	if !clock {
		wanted.LastUpdateTime = c.now
	}
	wanted.LastTransitionTime = c.now
	if have := c.get(wanted.Type); have != nil {
		if have.Status == wanted.Status {
			wanted.LastTransitionTime = have.LastTransitionTime
		}
		same := have.Status == wanted.Status && have.Reason == wanted.Reason && have.Message == wanted.Message
		if same && (!clock || have.LastUpdateTime.Equal(&wanted.LastUpdateTime)) {
			return
		}
	}
	c.remove(wanted.Type)
	c.list = append(c.list, wanted)
}
