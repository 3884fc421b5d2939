package operator

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// status holds what a replica waits for. It is safe for concurrent use.
type status struct {
	mu         sync.Mutex
	waitingFor string
}

func newStatus() *status {
	return &status{waitingFor: "the start of the process"}
}

// wait records what is waited for, and reports whether that is news.
func (s *status) wait(what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.waitingFor != what
	s.waitingFor = what
	return changed
}

// done records that nothing is waited for any more.
func (s *status) done() {
	s.wait("")
}

func (s *status) ready() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waitingFor == "" {
		return nil
	}
	return errors.New("waiting for " + s.waitingFor)
}

// addHealthServer serves /healthz, which says that the process is alive, and /readyz, which says what a
// replica waits for. The manager's own probe server withholds reasons.
func addHealthServer(mgr ctrl.Manager, addr string, s *status) error {
	if orOff(addr) == "0" {
		return nil
	}
	return mgr.Add(&manager.Server{
		Name:   "health probe",
		Server: &http.Server{Addr: addr, Handler: healthHandler(s), ReadHeaderTimeout: 10 * time.Second},
	})
}

func healthHandler(s *status) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := s.ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	return mux
}
