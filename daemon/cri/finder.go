package cri

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// Pauses between two looks at the sockets.
const (
	firstRetry = time.Second
	steadyLook = 30 * time.Second
)

// errNotLooked is the state before the first look.
var errNotLooked = errors.New("has not been looked for yet")

// Finder finds the runtimes of the node and watches over them for as long as the process lives, so that
// a runtime that comes late, or again, or at another path, needs no restart of the daemon (KP-21, B-8).
type Finder struct {
	sockets []string
	clock   clock.Clock
	// notify hears about the first look, and about every change from found to not found and back.
	notify func(error)

	mu      sync.Mutex
	clients map[string]*Client
	health  error
}

// NewFinder returns a finder that looks at the given paths, best first. The function, which may be nil,
// is called with nil when a runtime was found, and with the reason when none is left.
func NewFinder(sockets []string, clk clock.Clock, notify func(error)) *Finder {
	if notify == nil {
		notify = func(error) {}
	}
	return &Finder{
		sockets: sockets,
		clock:   clk,
		notify:  notify,
		clients: make(map[string]*Client),
		health:  errNotLooked,
	}
}

// Start looks at the sockets until the context ends: with growing pauses while no runtime answers,
// and else every half minute.
func (f *Finder) Start(ctx context.Context) error {
	defer f.close()
	pause := firstRetry
	for {
		f.Look(ctx)
		wait := steadyLook
		if f.Healthy() == nil {
			pause = firstRetry
		} else {
			wait, pause = pause, min(2*pause, steadyLook)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-f.clock.After(wait):
		}
	}
}

// Look tries every socket once.
func (f *Finder) Look(ctx context.Context) {
	var reasons []error
	healthy := false
	for _, socket := range f.sockets {
		found, err := f.try(ctx, socket)
		healthy = healthy || found
		if err != nil {
			reasons = append(reasons, fmt.Errorf("%s: %w", socket, err))
		}
	}
	switch {
	case healthy:
		f.conclude(nil)
	case ctx.Err() != nil:
		// The process ends, so the answers tell nothing of the runtimes.
	case len(reasons) == 0:
		f.conclude(fmt.Errorf("no socket at any of %s", strings.Join(f.sockets, ", ")))
	default:
		f.conclude(errors.Join(reasons...))
	}
}

// try reports whether a runtime answers at a socket. A socket that does not exist is no error.
func (f *Finder) try(ctx context.Context, socket string) (bool, error) {
	if client := f.client(socket); client != nil {
		err := client.Ping(ctx)
		return err == nil, err
	}
	if _, err := os.Stat(socket); errors.Is(err, os.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	client, err := Dial(ctx, socket)
	if err != nil {
		return false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clients[socket] = client
	logf.FromContext(ctx).Info("Found container runtime", "runtime", client.Name(), "path", socket)
	return true, nil
}

// conclude records the outcome of a look and tells about it if it is news.
func (f *Finder) conclude(health error) {
	f.mu.Lock()
	before := f.health
	f.health = health
	f.mu.Unlock()
	if errors.Is(before, errNotLooked) || (before == nil) != (health == nil) {
		f.notify(health)
	}
}

// Healthy returns nil if a runtime answered at the last look, and else why none did.
func (f *Finder) Healthy() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.health
}

// For returns the runtime of a container by the ID in a pod's status. Of two runtimes with one name the
// one whose socket was named first is taken. It reports false when there is none. Source: R-7.
func (f *Finder) For(containerID string) (Runtime, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, socket := range f.sockets {
		if client := f.clients[socket]; client != nil && client.Name() == Scheme(containerID) {
			return client, true
		}
	}
	return nil, false
}

func (f *Finder) client(socket string) *Client {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clients[socket]
}

func (f *Finder) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for socket, client := range f.clients {
		// The process ends; what a connection says to that changes nothing.
		_ = client.Close()
		delete(f.clients, socket)
	}
}
