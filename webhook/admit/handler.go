package admit

import (
	"context"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Mutate answers create and update requests of a kind with the patch that change makes to the object.
// old is the object as stored, and nil on create.
func Mutate[H client.Object](kind Kind[H], change func(object, old H) error) admission.Handler {
	return admission.HandlerFunc(func(_ context.Context, req admission.Request) admission.Response {
		exchange, response := open(kind, req)
		if exchange == nil {
			return response
		}
		before, err := exchange.version.Encode(exchange.object)
		if err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		if err := change(exchange.object, exchange.old); err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		after, err := exchange.version.Encode(exchange.object)
		if err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		operations, err := Patch(req.Object.Raw, before, after)
		if err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		return admission.Patched("", operations...)
	})
}

// Validate answers create and update requests of a kind: allowed, or refused with 422 and one cause for
// each error (WH-112). old is nil on create. An error of judge itself answers 500.
func Validate[H client.Object](kind Kind[H], judge func(ctx context.Context, req admission.Request, object, old H) (field.ErrorList, error)) admission.Handler {
	return admission.HandlerFunc(func(ctx context.Context, req admission.Request) admission.Response {
		exchange, response := open(kind, req)
		if exchange == nil {
			return response
		}
		errs, err := judge(ctx, req, exchange.object, exchange.old)
		if err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		if exchange.version.Errors != nil {
			errs = exchange.version.Errors(errs)
		}
		return Verdict(req, errs)
	})
}

// Verdict allows a request without errors and refuses any other with 422, naming each field.
func Verdict(req admission.Request, errs field.ErrorList) admission.Response {
	if len(errs) == 0 {
		return admission.Allowed("")
	}
	kind := schema.GroupKind{Group: req.Kind.Group, Kind: req.Kind.Kind}
	status := apierrors.NewInvalid(kind, req.Name, errs).Status()
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Result: &status}}
}

// exchange is one decoded request.
type exchange[H client.Object] struct {
	version     Version[H]
	object, old H
}

// open decodes a request. Without an exchange, the response is the answer already: other operations
// and subresources are allowed, what cannot be decoded is a bad request (WH-112).
func open[H client.Object](kind Kind[H], req admission.Request) (*exchange[H], admission.Response) {
	isUpdate := req.Operation == admissionv1.Update
	if req.Operation != admissionv1.Create && !isUpdate || req.SubResource != "" {
		return nil, admission.Allowed("")
	}
	version, served := kind[req.Kind.Version]
	if !served {
		return nil, admission.Errored(http.StatusBadRequest, fmt.Errorf("version %s of %s is not served", req.Kind.Version, req.Kind.Kind))
	}
	object, err := version.Decode(req.Object.Raw)
	if err != nil {
		return nil, admission.Errored(http.StatusBadRequest, err)
	}
	// The API server sends the namespace of the request beside an object that does not state it.
	if object.GetNamespace() == "" {
		object.SetNamespace(req.Namespace)
	}
	x := &exchange[H]{version: version, object: object}
	if isUpdate {
		if x.old, err = version.Decode(req.OldObject.Raw); err != nil {
			return nil, admission.Errored(http.StatusBadRequest, err)
		}
	}
	return x, admission.Response{}
}
