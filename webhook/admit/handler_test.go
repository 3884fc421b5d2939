package admit_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/flotilla-k8s/flotilla/webhook/admit"
)

func pods() admit.Kind[*corev1.Pod] {
	return admit.Kind[*corev1.Pod]{"v1": admit.Hub[corev1.Pod]()}
}

// request is about a pod; the operation decides which of the two objects are sent.
func request(operation admissionv1.Operation, object string) admission.Request {
	req := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Kind: metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}, Operation: operation, Namespace: "ns", Name: "a",
	}}
	if operation != admissionv1.Delete {
		req.Object = runtime.RawExtension{Raw: []byte(object)}
	}
	if operation != admissionv1.Create {
		req.OldObject = runtime.RawExtension{Raw: []byte(object)}
	}
	return req
}

// handlers refuse or change every pod that they are asked about, and record what they were given.
type handlers struct {
	object, old *corev1.Pod
	err         error
}

func (h *handlers) all() map[string]admission.Handler {
	return map[string]admission.Handler{
		"mutate": admit.Mutate(pods(), func(object, old *corev1.Pod) error {
			h.object, h.old = object.DeepCopy(), old
			object.Spec.NodeName = "n"
			return h.err
		}),
		"validate": admit.Validate(pods(), func(_ context.Context, _ admission.Request, object, old *corev1.Pod) (field.ErrorList, error) {
			h.object, h.old = object, old
			return field.ErrorList{field.Required(field.NewPath("spec", "x"), "must be there")}, h.err
		}),
		"delete": admit.Delete(pods(), func(_ context.Context, _ admission.Request, stored *corev1.Pod) string {
			h.object = stored
			return "kept"
		}),
	}
}

func TestHandlers(t *testing.T) {
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`
	with := func(req admission.Request, change func(*admission.Request)) admission.Request {
		change(&req)
		return req
	}
	for _, c := range []struct {
		name    string
		handler string
		req     admission.Request
		err     error
		code    int32 // of a refusal
		text    string
		asked   bool
	}{
		{name: "create is asked", handler: "mutate", req: request(admissionv1.Create, pod), asked: true},
		{name: "update is asked", handler: "mutate", req: request(admissionv1.Update, pod), asked: true},
		{name: "delete is not mutated", handler: "mutate", req: request(admissionv1.Delete, pod)},
		{name: "an error of a change", handler: "mutate", req: request(admissionv1.Create, pod), err: errors.New("broken"), asked: true,
			code: http.StatusInternalServerError, text: "broken"},
		{name: "subresources pass", handler: "mutate", req: with(request(admissionv1.Update, pod), func(r *admission.Request) { r.SubResource = "status" })},

		{name: "WH-112: field errors", handler: "validate", req: request(admissionv1.Create, pod), asked: true,
			code: http.StatusUnprocessableEntity, text: `Pod "a" is invalid: spec.x: Required value: must be there`},
		{name: "WH-112: what cannot be decoded", handler: "validate", req: request(admissionv1.Create, `{"spec":1}`), code: http.StatusBadRequest, text: "decoding object"},
		{name: "WH-112: an old object that cannot be decoded", handler: "validate", req: with(request(admissionv1.Update, pod), func(r *admission.Request) { r.OldObject.Raw = []byte("x") }),
			code: http.StatusBadRequest, text: "decoding object"},
		{name: "WH-112: an unknown version", handler: "validate", req: with(request(admissionv1.Create, pod), func(r *admission.Request) { r.Kind.Version = "v9" }),
			code: http.StatusBadRequest, text: "version v9 of Pod is not served"},
		{name: "an error of judging", handler: "validate", req: request(admissionv1.Create, pod), err: errors.New("broken"), asked: true,
			code: http.StatusInternalServerError, text: "broken"},

		{name: "WH-119: the stored object is judged", handler: "delete", req: request(admissionv1.Delete, pod), asked: true,
			code: http.StatusForbidden, text: "kept"},
		{name: "WH-119: no object", handler: "delete", req: with(request(admissionv1.Delete, pod), func(r *admission.Request) { r.OldObject.Raw = nil })},
		{name: "WH-119: a subresource", handler: "delete", req: with(request(admissionv1.Delete, pod), func(r *admission.Request) { r.SubResource = "x" })},
		{name: "WH-112: deletion of what cannot be decoded", handler: "delete", req: request(admissionv1.Delete, `[]`), code: http.StatusBadRequest},
		{name: "WH-112: deletion in an unknown version", handler: "delete", req: with(request(admissionv1.Delete, pod), func(r *admission.Request) { r.Kind.Version = "v9" }),
			code: http.StatusBadRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &handlers{err: c.err}
			response := h.all()[c.handler].Handle(t.Context(), c.req)
			if response.Allowed != (c.code == 0) {
				t.Errorf("allowed is %t: %+v", response.Allowed, response.Result)
			}
			if c.code != 0 && (response.Result.Code != c.code || !strings.Contains(response.Result.Message, c.text)) {
				t.Errorf("answer is %d %q, want %d %q", response.Result.Code, response.Result.Message, c.code, c.text)
			}
			if asked := h.object != nil; asked != c.asked {
				t.Errorf("asked is %t", asked)
			}
			if hasOld := h.old != nil; hasOld != (c.asked && c.req.Operation == admissionv1.Update) {
				t.Errorf("old object is given: %t", hasOld)
			}
		})
	}
}

func TestTheNamespaceOfTheRequestCounts(t *testing.T) {
	h := &handlers{}
	response := h.all()["mutate"].Handle(t.Context(), request(admissionv1.Create, `{"metadata":{"generateName":"a-"}}`))
	if h.object.Namespace != "ns" {
		t.Errorf("namespace is %q", h.object.Namespace)
	}
	for _, operation := range response.Patches {
		if strings.HasPrefix(operation.Path, "/metadata") {
			t.Errorf("the patch changes metadata: %v", operation)
		}
	}
}

func TestByOperation(t *testing.T) {
	handler := admit.ByOperation{admissionv1.Delete: (&handlers{}).all()["delete"]}
	if response := handler.Handle(t.Context(), request(admissionv1.Delete, `{}`)); response.Allowed {
		t.Error("the handler of the operation was not asked")
	}
	if response := handler.Handle(t.Context(), request(admissionv1.Connect, `{}`)); !response.Allowed {
		t.Error("an operation without a handler was refused")
	}
}
