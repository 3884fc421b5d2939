package operator

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealthHandler(t *testing.T) {
	s := newStatus()
	handler := healthHandler(s)
	get := func(path string) (code int, body string) {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		return answer.Code, strings.TrimSpace(answer.Body.String())
	}
	s.wait("a ready endpoint of service flotilla-system/kruise-webhook-service")
	if code, _ := get("/healthz"); code != http.StatusOK {
		t.Errorf("WH-135: a waiting operator is not alive: %d", code)
	}
	code, body := get("/readyz")
	if want := "waiting for a ready endpoint of service flotilla-system/kruise-webhook-service"; code != http.StatusServiceUnavailable || body != want {
		t.Errorf("WH-135: /readyz of a waiting operator answers %d %q, want 503 %q", code, body, want)
	}
	s.done()
	if code, body := get("/readyz"); code != http.StatusOK || body != "ok" {
		t.Errorf("/readyz of a started operator answers %d %q", code, body)
	}
}
