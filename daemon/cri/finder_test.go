package cri_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/flotilla-k8s/flotilla/daemon/cri"
	"github.com/flotilla-k8s/flotilla/daemon/cri/crifake"
	"github.com/flotilla-k8s/flotilla/shared/testenv"
)

func sockets(t *testing.T, dir string) []string {
	t.Helper()
	list, err := cri.Sockets("", "", dir)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func serveAt(t *testing.T, dir, name, file string) *crifake.Runtime {
	t.Helper()
	socket := filepath.Join(dir, file)
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	return crifake.Start(t, name, socket)
}

func TestFinder(t *testing.T) {
	t.Run("DE-15: no socket is a reason that names the places", func(t *testing.T) {
		dir := crifake.SocketDir(t)
		finder := cri.NewFinder(sockets(t, dir), clock.RealClock{}, nil)
		if finder.Healthy() == nil {
			t.Error("healthy before the first look")
		}
		finder.Look(t.Context())
		err := finder.Healthy()
		if err == nil || !strings.Contains(err.Error(), "no socket") || !strings.Contains(err.Error(), filepath.Join(dir, "crio.sock")) {
			t.Errorf("got %v", err)
		}
		if _, found := finder.For("containerd://1"); found {
			t.Error("found a runtime where there is none")
		}
	})
	t.Run("DE-15: a K3s-like place is found", func(t *testing.T) {
		dir := crifake.SocketDir(t)
		serveAt(t, dir, "containerd", "k3s/containerd/containerd.sock")
		finder := cri.NewFinder(sockets(t, dir), clock.RealClock{}, nil)
		finder.Look(t.Context())
		if err := finder.Healthy(); err != nil {
			t.Fatal(err)
		}
		if _, found := finder.For("containerd://1"); !found {
			t.Error("no runtime for containerd")
		}
	})
	t.Run("R-5, R-7: a runtime that refuses is skipped, the others are chosen by the scheme of the ID", func(t *testing.T) {
		dir := crifake.SocketDir(t)
		serveAt(t, dir, "containerd", "containerd.sock").Fail(crifake.ListImages, status.Error(codes.Unimplemented, "no CRI"))
		second := serveAt(t, dir, "containerd", "containerd/containerd.sock")
		serveAt(t, dir, "cri-o", "crio/crio.sock")
		finder := cri.NewFinder(sockets(t, dir), clock.RealClock{}, nil)
		finder.Look(t.Context())
		if err := finder.Healthy(); err != nil {
			t.Fatal(err)
		}
		for _, scheme := range []string{"containerd", "cri-o"} {
			if runtime, found := finder.For(scheme + "://1"); !found || runtime.Name() != scheme {
				t.Errorf("found nothing for %s", scheme)
			}
		}
		if _, found := finder.For("docker://1"); found {
			t.Error("found a runtime of another scheme")
		}
		runtime, _ := finder.For("containerd://1")
		if _, err := runtime.Containers(t.Context(), "uid"); err != nil || len(second.Calls(crifake.ListContainers)) != 1 {
			t.Errorf("asked another runtime than the accepted one (%v)", err)
		}
	})
	t.Run("DE-15: a runtime that answers badly is the reason", func(t *testing.T) {
		dir := crifake.SocketDir(t)
		serveAt(t, dir, "containerd", "containerd.sock").Fail(crifake.Version, status.Error(codes.Unavailable, "not ready yet"))
		finder := cri.NewFinder(sockets(t, dir), clock.RealClock{}, nil)
		finder.Look(t.Context())
		if err := finder.Healthy(); err == nil || !strings.Contains(err.Error(), "not ready yet") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("E-40, KP-20: a runtime that restarts is unhealthy meanwhile and needs no restart of the daemon", func(t *testing.T) {
		dir := crifake.SocketDir(t)
		var news []error
		fake := serveAt(t, dir, "containerd", "containerd.sock")
		finder := cri.NewFinder(sockets(t, dir), clock.RealClock{}, func(err error) { news = append(news, err) })
		finder.Look(t.Context())
		fake.Stop()
		finder.Look(t.Context())
		finder.Look(t.Context())
		if finder.Healthy() == nil {
			t.Fatal("healthy without a runtime")
		}
		fake.Rename("cri-o")
		fake.Serve(t)
		lookUntilHealthy(t, finder)
		if _, found := finder.For("cri-o://1"); !found {
			t.Error("R-6: the name does not follow the runtime behind the path")
		}
		if len(news) != 3 || news[0] != nil || news[1] == nil || news[2] != nil {
			t.Errorf("told %v, want found, lost, found", news)
		}
	})
}

// lookUntilHealthy gives gRPC the time to connect again.
func lookUntilHealthy(t *testing.T, finder *cri.Finder) {
	t.Helper()
	testenv.Until(t, time.Minute, func(ctx context.Context) string {
		finder.Look(ctx)
		if err := finder.Healthy(); err != nil {
			return err.Error()
		}
		return ""
	})
}

func TestFinderStart(t *testing.T) {
	dir := crifake.SocketDir(t)
	clk := clocktesting.NewFakeClock(time.Unix(0, 0))
	news := make(chan error, 10)
	finder := cri.NewFinder(sockets(t, dir), clk, func(err error) { news <- err })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- finder.Start(ctx) }()

	if err := <-news; err == nil {
		t.Fatal("found a runtime where there is none")
	}
	serveAt(t, dir, "containerd", "crio.sock")
	testenv.Until(t, time.Minute, func(context.Context) string {
		if clk.HasWaiters() {
			return ""
		}
		return "the finder does not wait for its next look"
	})
	clk.Step(time.Second) // KP-21: it tries again by itself
	if err := <-news; err != nil {
		t.Fatalf("told %v, want found", err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("the end of the process is no error: %v", err)
	}
}
