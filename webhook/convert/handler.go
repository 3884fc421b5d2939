package convert

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// Path is where the CRDs tell the API server to send ConversionReviews.
const Path = "/convert"

// maxReviewBytes limits a review. The API server sends the objects of a whole list in one review, so
// the limit is far above the size of one object; it is there so that a stray request cannot exhaust
// the memory of the process.
const maxReviewBytes = 256 << 20

// Handler answers ConversionReviews, versions v1 and v1beta1, for all kinds with two versions. It
// needs no cache and no client and depends on no feature gate (WH-132). The zero value is ready.
type Handler struct{}

// ServeHTTP implements http.Handler. Whatever is wrong with the objects is said in the review; an
// HTTP error means that the request is no review.
func (Handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "a ConversionReview has to be posted", http.StatusMethodNotAllowed)
		return
	}
	review, err := readReview(http.MaxBytesReader(w, req.Body, maxReviewBytes))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	log := logf.FromContext(req.Context())
	answer, remarks := respond(review.Request)
	for _, text := range remarks {
		log.V(4).Info("Left out a part of the other version", "reason", text)
	}
	if answer.Result.Status != metav1.StatusSuccess {
		log.Info("Refused a conversion", "reason", answer.Result.Message)
	}
	w.Header().Set("Content-Type", "application/json")
	body := apiextensionsv1.ConversionReview{TypeMeta: review.TypeMeta, Response: answer}
	if err := json.NewEncoder(w).Encode(body); err != nil {
		log.Error(err, "Writing a ConversionReview failed")
	}
}

// readReview decodes a review. Its two versions have the same fields, so one type serves for both and
// the answer carries the apiVersion of the question.
func readReview(body io.Reader) (*apiextensionsv1.ConversionReview, error) {
	raw, err := io.ReadAll(body)
	if err != nil {
		return nil, fmt.Errorf("reading a ConversionReview: %w", err)
	}
	review := &apiextensionsv1.ConversionReview{}
	if err := unmarshal(raw, review); err != nil {
		return nil, fmt.Errorf("decoding a ConversionReview: %w", err)
	}
	if review.Kind != "ConversionReview" || review.Request == nil {
		return nil, fmt.Errorf("decoding a ConversionReview: got kind %q, with a request: %t",
			review.Kind, review.Request != nil)
	}
	return review, nil
}

// respond converts all objects of a request, in order, or none.
func respond(req *apiextensionsv1.ConversionRequest) (*apiextensionsv1.ConversionResponse, []string) {
	answer := &apiextensionsv1.ConversionResponse{UID: req.UID}
	converted := make([]runtime.RawExtension, 0, len(req.Objects))
	var remarks []string
	for i, obj := range req.Objects {
		raw, more, err := convertRaw(obj.Raw, req.DesiredAPIVersion)
		if err != nil {
			answer.Result = metav1.Status{
				Status:  metav1.StatusFailure,
				Message: fmt.Sprintf("object %d: %v", i, err),
			}
			return answer, remarks
		}
		converted = append(converted, runtime.RawExtension{Raw: raw})
		remarks = append(remarks, more...)
	}
	answer.ConvertedObjects = converted
	answer.Result = metav1.Status{Status: metav1.StatusSuccess}
	return answer, remarks
}

func convertRaw(raw []byte, apiVersion string) (out []byte, remarks []string, err error) {
	var obj map[string]any
	if err := unmarshal(raw, &obj); err != nil {
		return nil, nil, fmt.Errorf("decoding: %w", err)
	}
	result, err := To(obj, apiVersion)
	if err != nil {
		return nil, nil, err
	}
	if out, err = json.Marshal(result.Object); err != nil {
		return nil, nil, fmt.Errorf("encoding: %w", err)
	}
	for i, text := range result.Remarks {
		meta := childMap(obj, "metadata")
		result.Remarks[i] = fmt.Sprintf("%v %v/%v: %s", obj["kind"], meta["namespace"], meta["name"], text)
	}
	return out, result.Remarks, nil
}
