package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

const (
	// healthPath answers 200 as soon as the server can be called (WH-4).
	healthPath = "/healthz"
	// ownCallTimeout keeps the call below the timeout of a readiness probe.
	ownCallTimeout = time.Second
	// ownName is the name in the certificate by which a replica calls itself.
	ownName = "localhost"
)

// ready is the readiness probe: everything was registered once, and a call to this replica's own server
// succeeds, verified by the CA that the API server has been given (WH-134).
func (s *Server) ready(req *http.Request) error {
	if err := s.registration.Ready(); err != nil {
		return err
	}
	return s.callItself(req.Context())
}

func (s *Server) callItself(ctx context.Context) error {
	roots := s.served.Roots()
	if roots == nil {
		return errors.New("calling own server: there is no certificate yet")
	}
	ctx, cancel := context.WithTimeout(ctx, ownCallTimeout)
	defer cancel()
	address := net.JoinHostPort(ownHost(s.opts.ListenHost), strconv.Itoa(s.opts.Port))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+healthPath, http.NoBody)
	if err != nil {
		return fmt.Errorf("calling own server: %w", err)
	}
	// A new connection each time: the certificate is what is to be seen.
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots, ServerName: ownName, MinVersion: tls.VersionTLS12},
		DisableKeepAlives: true,
	}
	response, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return fmt.Errorf("calling own server: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // nothing is read of it
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("calling own server: got status %s", response.Status)
	}
	return nil
}

// ownHost is where a server that listens on host can be called from the same machine.
func ownHost(host string) string {
	if host == "" {
		return "127.0.0.1"
	}
	return host
}
