package convert_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/flotilla-k8s/flotilla/webhook/convert"
)

func TestHandlerConvertsAllObjectsInOrder(t *testing.T) {
	for _, version := range []string{"apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1"} {
		t.Run("WH-127: review version "+version, func(t *testing.T) {
			answer := post(t, review(version, hub, minimal("a", spoke), minimal("b", hub), minimal("c", spoke)))
			if answer.APIVersion != version || answer.Response.UID != "review-1" {
				t.Errorf("got %s for review %q", answer.APIVersion, answer.Response.UID)
			}
			if answer.Response.Result.Status != metav1.StatusSuccess {
				t.Fatalf("got %+v", answer.Response.Result)
			}
			var names []string
			for _, raw := range answer.Response.ConvertedObjects {
				obj := decode(t, raw.Raw)
				if obj["apiVersion"] != hub {
					t.Errorf("got version %v", obj["apiVersion"])
				}
				names = append(names, field(obj, "metadata")["name"].(string))
			}
			if diff := cmp.Diff([]string{"a", "b", "c"}, names); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHandlerRefuses(t *testing.T) {
	pod := `{"apiVersion":"v1","kind":"Pod"}`
	cases := []struct {
		name, desired, message string
		objects                []string
	}{
		{"a kind without conversion", hub, `object 1: converting Pod "v1"`, []string{minimal("a", spoke), pod}},
		{"an unknown version", "apps.kruise.io/v9", "no such conversion", []string{minimal("a", spoke)}},
		{"an unknown version that it already has", "apps.kruise.io/v9", "no such conversion", []string{minimal("a", "apps.kruise.io/v9")}},
		{"another group", "policy.kruise.io/v1beta1", "no such conversion", []string{minimal("a", spoke)}},
		{"an object that is none", hub, "object 0: decoding", []string{`"text"`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			answer := post(t, review("apiextensions.k8s.io/v1", c.desired, c.objects...)).Response
			if answer.Result.Status != metav1.StatusFailure || !strings.Contains(answer.Result.Message, c.message) {
				t.Errorf("got %+v", answer.Result)
			}
			if len(answer.ConvertedObjects) > 0 {
				t.Errorf("got %d objects beside the failure", len(answer.ConvertedObjects))
			}
		})
	}
}

func TestHandlerAnswersOtherRequestsWithHTTPErrors(t *testing.T) {
	cases := []struct {
		name, method, body string
		code               int
	}{
		{"a read", http.MethodGet, "", http.StatusMethodNotAllowed},
		{"no JSON", http.MethodPost, "{", http.StatusBadRequest},
		{"another kind", http.MethodPost, `{"kind":"AdmissionReview","request":{"uid":"1"}}`, http.StatusBadRequest},
		{"a review without request", http.MethodPost, `{"kind":"ConversionReview"}`, http.StatusBadRequest},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := serve(t, c.method, c.body); got.Code != c.code {
				t.Errorf("got %d: %s", got.Code, got.Body)
			}
		})
	}
}

func TestHandlerLeavesNumbersAsTheyAre(t *testing.T) {
	in := strings.Replace(minimal("a", spoke), `"containers":[]`, `"containers":[],"big":9007199254740993,"small":0.1`, 1)
	answer := post(t, review("apiextensions.k8s.io/v1", hub, in))
	out := string(answer.Response.ConvertedObjects[0].Raw)
	if !strings.Contains(out, `"big":9007199254740993`) || !strings.Contains(out, `"small":0.1`) {
		t.Errorf("CS-53: numbers of the template changed: %s", out)
	}
}

func TestUnusableRecordIsARemarkAndNoError(t *testing.T) {
	obj := decode(t, []byte(minimal("a", spoke)))
	field(obj, "metadata")["annotations"] = object{"flotilla-k8s.github.io/other-version": recordText("v1beta1")}
	result, err := convert.To(obj, hub)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"not restoring spec.scaleStrategy.excludePreparingDelete: the other version says it, too",
		"not restoring metadata.labels.team.deep: the other version says it, too",
	}
	if diff := cmp.Diff(want, result.Remarks); diff != "" {
		t.Errorf("WH-131: remarks:\n%s", diff)
	}
}

func minimal(name, apiVersion string) string {
	return `{"apiVersion":"` + apiVersion + `","kind":"CloneSet","metadata":{"name":"` + name + `"},` +
		`"spec":{"selector":{},"template":{"spec":{"containers":[]}}}}`
}

func review(apiVersion, desired string, objects ...string) *apiextensionsv1.ConversionReview {
	r := &apiextensionsv1.ConversionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: apiVersion, Kind: "ConversionReview"},
		Request:  &apiextensionsv1.ConversionRequest{UID: "review-1", DesiredAPIVersion: desired},
	}
	for _, text := range objects {
		r.Request.Objects = append(r.Request.Objects, runtime.RawExtension{Raw: []byte(text)})
	}
	return r
}

func post(t *testing.T, review *apiextensionsv1.ConversionReview) *apiextensionsv1.ConversionReview {
	t.Helper()
	body, err := json.Marshal(review)
	if err != nil {
		t.Fatal(err)
	}
	got := serve(t, http.MethodPost, string(body))
	if got.Code != http.StatusOK {
		t.Fatalf("got %d: %s", got.Code, got.Body)
	}
	answer := &apiextensionsv1.ConversionReview{}
	if err := json.Unmarshal(got.Body.Bytes(), answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

func serve(t *testing.T, method, body string) *httptest.ResponseRecorder {
	t.Helper()
	got := httptest.NewRecorder()
	convert.Handler{}.ServeHTTP(got, httptest.NewRequestWithContext(t.Context(), method, convert.Path, strings.NewReader(body)))
	return got
}
