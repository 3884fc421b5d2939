// Command server answers HTTP requests with its version and the pod it runs in. Tests and demos
// watch with it which version serves during an update, and whether a request is lost.
//
// It is set up by the environment: PORT (8080), POD_NAME (the host's name), POD_IP (the first
// address that is not loopback), NODE_NAME, DRAIN (1s: how long it goes on serving after TERM) and
// CRASH_AFTER (when set, it exits with an error after this time; 0s is at once).
package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
)

// tagFile names the image's tag, which is the version.
const tagFile = "/etc/image-tag"

func main() {
	if err := run(); err != nil {
		slog.Error("Server ended", "err", err)
		os.Exit(1)
	}
}

func run() error {
	s, err := readSettings(tagFile, os.Getenv)
	if err != nil {
		return err
	}
	if s.crash && s.crashAfter <= 0 {
		return errCrash
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if s.crash {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.crashAfter, errCrash)
		defer cancel()
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("", s.port))
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	slog.Info("Serving", "version", s.answer.Version, "pod", s.answer.Pod, "address", listener.Addr().String())
	return newServer(s).serve(ctx, listener)
}
