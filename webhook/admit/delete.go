package admit

import (
	"context"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Delete answers delete requests of a kind: judge is given the object as stored and returns why it must
// not be deleted, or "". A refusal is 403 with that text. Requests without an object, and those about
// subresources, are allowed (WH-119).
func Delete[H client.Object](kind Kind[H], judge func(ctx context.Context, req admission.Request, stored H) string) admission.Handler {
	return admission.HandlerFunc(func(ctx context.Context, req admission.Request) admission.Response {
		if req.Operation != admissionv1.Delete || req.SubResource != "" || len(req.OldObject.Raw) == 0 {
			return admission.Allowed("")
		}
		version, served := kind[req.Kind.Version]
		if !served {
			return admission.Errored(http.StatusBadRequest, fmt.Errorf("version %s of %s is not served", req.Kind.Version, req.Kind.Kind))
		}
		stored, err := version.Decode(req.OldObject.Raw)
		if err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
		if refusal := judge(ctx, req, stored); refusal != "" {
			return admission.Denied(refusal)
		}
		return admission.Allowed("")
	})
}

// ByOperation sends each request to the handler of its operation; operations without one are allowed.
type ByOperation map[admissionv1.Operation]admission.Handler

// Handle implements admission.Handler.
func (b ByOperation) Handle(ctx context.Context, req admission.Request) admission.Response {
	if handler, found := b[req.Operation]; found {
		return handler.Handle(ctx, req)
	}
	return admission.Allowed("")
}
