// Package registry knows how to serve container images from a directory, to the nodes of one
// cluster and without any authentication, and how to put image archives into it.
package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

// maxManifest bounds an upload held in memory.
const maxManifest = 16 << 20

// Handler returns a registry that keeps blobs and manifests in a directory, so that what was
// pushed survives a restart.
func Handler(ctx context.Context, dir string, logger *log.Logger) (http.Handler, error) {
	blobs := filepath.Join(dir, "blobs")
	if err := os.MkdirAll(blobs, 0o755); err != nil {
		return nil, fmt.Errorf("making the directory of blobs: %w", err)
	}
	inner := registry.New(
		registry.WithBlobHandler(registry.NewDiskBlobHandler(blobs)),
		registry.Logger(logger),
	)
	kept := store{dir: filepath.Join(dir, "manifests")}
	manifests, err := kept.all()
	if err != nil {
		return nil, err
	}
	for _, m := range manifests {
		request := httptest.NewRequestWithContext(ctx, http.MethodPut, m.Path, bytes.NewReader(m.Body))
		request.Header.Set("Content-Type", m.ContentType)
		answer := httptest.NewRecorder()
		inner.ServeHTTP(answer, request)
		if answer.Code != http.StatusCreated {
			return nil, fmt.Errorf("restoring %s: %s", m.Path, answer.Body)
		}
	}
	return &keeper{inner: inner, store: kept}, nil
}

// keeper passes requests on and records the manifests that the registry, which holds them in
// memory, has accepted.
type keeper struct {
	inner http.Handler
	store store
}

func (k *keeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	change := r.Method == http.MethodPut || r.Method == http.MethodDelete
	if !change || !strings.Contains(r.URL.Path, "/manifests/") {
		k.inner.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxManifest))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	k.inner.ServeHTTP(answer, r)
	switch answer.Code {
	case http.StatusCreated:
		err = k.store.put(manifest{Path: r.URL.Path, ContentType: r.Header.Get("Content-Type"), Body: body})
	case http.StatusAccepted:
		err = k.store.remove(r.URL.Path)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // a client that went away misses nothing
}

// Serve serves the directory at an address until the context ends.
func Serve(ctx context.Context, dir, address string, logger *log.Logger) error {
	handler, err := Handler(ctx, dir, logger)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ErrorLog: logger}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		stopped <- server.Shutdown(grace)
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return <-stopped
}
