package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// closing is how long requests under way may take once the drain is over.
const closing = 10 * time.Second

// server answers requests until its context ends.
type server struct {
	settings settings
	draining atomic.Bool
}

func newServer(s settings) *server {
	return &server{settings: s}
}

// serve answers on listener until ctx ends. It then goes on for the drain, so that whoever still
// has the address finds it working, closes idle connections, waits for requests under way, and
// returns nil, or errCrash if that is what ended ctx.
func (s *server) serve(ctx context.Context, listener net.Listener) error {
	web := &http.Server{Handler: s.handler(), ReadHeaderTimeout: closing}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(listener) }()

	select {
	case err := <-failed:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	if errors.Is(context.Cause(ctx), errCrash) {
		return errCrash
	}
	s.draining.Store(true)
	slog.Info("Draining", "delay", s.settings.drain)
	select {
	case err := <-failed:
		return fmt.Errorf("serving: %w", err)
	case <-time.After(s.settings.drain):
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	if err := web.Shutdown(bounded); err != nil {
		return fmt.Errorf("shutting down: %w", err)
	}
	return nil
}

// handler answers /readyz with 200 until the drain begins and 503 from then on, and every other
// path with the answer. During the drain each answer ends its connection, so that few are left to
// be cut.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if s.draining.Load() {
			http.Error(w, "draining", http.StatusServiceUnavailable)
			return
		}
		// A client that went away is no concern of ours; the same below.
		_, _ = fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.settings.answer)
	})
	return mux
}
