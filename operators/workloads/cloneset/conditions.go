package cloneset

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
)

// The conditions of a CloneSet and who owns them. All are written by this controller only.
//
//	FailedScale    True: the last scale phase ran into an error     absent: it did not
//	FailedUpdate   True: the last update phase ran into an error    absent: it did not
//	Progressing    only with progressDeadlineSeconds; False: the deadline passed

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
	c.set(appsv1beta1.CloneSetCondition{Type: kind, Status: corev1.ConditionTrue, Message: err.Error(),
		LastUpdateTime: c.now, LastTransitionTime: c.now})
}

// set replaces a condition if its status, reason, message or, for a clock that was restarted, its
// update time differ. The transition time moves only with the status (CS-14).
func (c *conditions) set(wanted appsv1beta1.CloneSetCondition) {
	have := c.get(wanted.Type)
	if have != nil {
		if have.Status == wanted.Status {
			wanted.LastTransitionTime = have.LastTransitionTime
		}
		sameText := have.Status == wanted.Status && have.Reason == wanted.Reason && have.Message == wanted.Message
		if sameText && (wanted.Reason == "" || have.LastUpdateTime.Equal(&wanted.LastUpdateTime)) {
			return
		}
	}
	c.remove(wanted.Type)
	c.list = append(c.list, wanted)
}
