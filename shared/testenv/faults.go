package testenv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

// ErrInjected is the cause of every failed request that Faults did not let through or whose answer it
// withheld.
var ErrInjected = errors.New("injected fault")

// Faults stands between a client and the API server: it counts writes and makes chosen ones fail. Its
// zero value lets everything through. It is safe for concurrent use.
type Faults struct {
	mu      sync.Mutex
	writes  []Write
	pending []*injected
	crashed bool
}

// Fault is one failure to come.
type Fault struct {
	// Match chooses the writes that count; nil chooses all.
	Match func(Write) bool
	// Nth is which of the chosen writes fails, from 1, counted from the call of Inject. 0 is every one.
	Nth int
	// After lets the API server carry the write out and withholds the answer. Otherwise the write never
	// arrives.
	After bool
	// Answer is what the client is told instead, for example a conflict; nil is a broken connection.
	Answer *apierrors.StatusError
	// Crash makes every later request of this client fail as well, reads included, until Recover: to
	// the API server the process is dead.
	Crash bool
}

type injected struct {
	Fault
	seen int
}

// Wrap returns a copy of the configuration whose requests pass through f.
func (f *Faults) Wrap(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return &faultyTransport{faults: f, next: next} })
	return cfg
}

// Inject adds a failure. Several may be pending; the first that applies to a write decides.
func (f *Faults) Inject(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending = append(f.pending, &injected{Fault: fault})
}

// Recover ends a crash and drops all pending failures.
func (f *Faults) Recover() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.crashed = false
	f.pending = nil
}

// Crashed reports whether a fault with Crash has happened since the last Recover.
func (f *Faults) Crashed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.crashed
}

// Writes returns the writes that reached the API server since the last Reset, in order of sending.
func (f *Faults) Writes() []Write {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Write(nil), f.writes...)
}

// Counts returns how many writes of each kind reached the API server, keyed like "patch pods/status".
func (f *Faults) Counts() map[string]int {
	counts := make(map[string]int)
	for _, w := range f.Writes() {
		counts[w.What()]++
	}
	return counts
}

// Reset forgets the writes so far.
func (f *Faults) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes = nil
}

// decide returns the fault that a write meets, or nil, and records the write if it will arrive.
func (f *Faults) decide(w Write) *Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault := f.next(w)
	if fault == nil || fault.After {
		f.writes = append(f.writes, w)
	}
	return fault
}

// crash makes every later request fail. A crash after a write happens once the API server has answered, so
// that whoever sees it can rely on the write.
func (f *Faults) crash() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.crashed = true
}

func (f *Faults) next(w Write) *Fault {
	var hit *Fault
	for _, p := range f.pending {
		if p.Match != nil && !p.Match(w) {
			continue
		}
		p.seen++
		if hit == nil && (p.Nth == 0 || p.Nth == p.seen) {
			hit = &p.Fault
		}
	}
	return hit
}

type faultyTransport struct {
	faults *Faults
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *faultyTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.faults.Crashed() {
		return nil, fmt.Errorf("%s %s after a crash: %w", req.Method, req.URL.Path, ErrInjected)
	}
	w, ok := parseWrite(req.Method, req.URL)
	if !ok {
		return t.next.RoundTrip(req)
	}
	fault := t.faults.decide(w)
	if fault == nil {
		return t.next.RoundTrip(req)
	}
	if fault.After {
		resp, err := t.next.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		if err := resp.Body.Close(); err != nil {
			return nil, err
		}
	}
	if fault.Crash {
		t.faults.crash()
	}
	if fault.Answer != nil {
		return answer(req, fault.Answer)
	}
	return nil, fmt.Errorf("%s %s: %w", w.What(), w.Name, ErrInjected)
}

func answer(req *http.Request, told *apierrors.StatusError) (*http.Response, error) {
	status := told.ErrStatus
	status.Kind, status.APIVersion = "Status", "v1" // or clients do not recognise it
	body, err := json.Marshal(status)
	if err != nil {
		return nil, fmt.Errorf("encoding an injected answer: %w", err)
	}
	return &http.Response{
		StatusCode: int(status.Code),
		Status:     http.StatusText(int(status.Code)),
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:  http.Header{"Content-Type": {"application/json"}},
		Body:    io.NopCloser(bytes.NewReader(body)),
		Request: req,
	}, nil
}
