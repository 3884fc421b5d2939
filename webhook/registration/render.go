package registration

import admissionv1 "k8s.io/api/admissionregistration/v1"

// What all hooks have in common. Values that the API server would fill in are spelled out, so that the
// live list can be compared with the wanted one.
const (
	timeoutSeconds int32 = 10
	failurePolicy        = admissionv1.Fail
	matchPolicy          = admissionv1.Equivalent
	sideEffects          = admissionv1.SideEffectClassNone
)

func reviewVersions() []string { return []string{"v1", "v1beta1"} }

func (h Hook) mutating(t Target, bundle []byte) admissionv1.MutatingWebhook {
	return admissionv1.MutatingWebhook{
		Name:                    h.Name,
		ClientConfig:            t.admission(h.Path, bundle),
		Rules:                   h.Rules,
		FailurePolicy:           new(failurePolicy),
		MatchPolicy:             new(matchPolicy),
		NamespaceSelector:       &h.NamespaceSelector,
		ObjectSelector:          &h.ObjectSelector,
		SideEffects:             new(sideEffects),
		TimeoutSeconds:          new(timeoutSeconds),
		AdmissionReviewVersions: reviewVersions(),
		ReinvocationPolicy:      new(admissionv1.NeverReinvocationPolicy),
		MatchConditions:         h.MatchConditions,
	}
}

func (h Hook) validating(t Target, bundle []byte) admissionv1.ValidatingWebhook {
	return admissionv1.ValidatingWebhook{
		Name:                    h.Name,
		ClientConfig:            t.admission(h.Path, bundle),
		Rules:                   h.Rules,
		FailurePolicy:           new(failurePolicy),
		MatchPolicy:             new(matchPolicy),
		NamespaceSelector:       &h.NamespaceSelector,
		ObjectSelector:          &h.ObjectSelector,
		SideEffects:             new(sideEffects),
		TimeoutSeconds:          new(timeoutSeconds),
		AdmissionReviewVersions: reviewVersions(),
		MatchConditions:         h.MatchConditions,
	}
}
