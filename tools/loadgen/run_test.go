package loadgen_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flotilla-k8s/flotilla/tools/loadgen"
)

// finished is a context that has ended.
func finished(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// once sends a single request to target.
func once(t *testing.T, target string, change func(*loadgen.Config)) loadgen.Stats {
	t.Helper()
	c := loadgen.Config{Target: target, Rate: 1, Concurrency: 1, Duration: time.Millisecond, Timeout: 10 * time.Second}
	if change != nil {
		change(&c)
	}
	stats, err := loadgen.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if stats.Sent != 1 {
		t.Fatalf("%d requests were sent, want 1", stats.Sent)
	}
	return stats
}

func TestAnswersAreCountedByVersion(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		version := "v2"
		if asked.Add(1) <= 3 {
			version = "v1"
		}
		_, _ = fmt.Fprintf(w, `{"version":%q}`, version)
	}))
	defer server.Close()
	recorder := new(loadgen.Recorder)
	stats, err := loadgen.Run(t.Context(), loadgen.Config{
		Target: server.URL, Rate: 100, Concurrency: 10, Duration: 100 * time.Millisecond, Timeout: 10 * time.Second, Recorder: recorder,
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"v1": 3, "v2": 7}, stats.Versions); diff != "" {
		t.Errorf("versions (-want +have):\n%s", diff)
	}
	if stats.Sent != 10 || stats.Answered != 10 || stats.Failed != 0 || stats.Latency.Max <= 0 {
		t.Errorf("counts are %+v", stats)
	}
	if diff := cmp.Diff(stats, recorder.Snapshot()); diff != "" {
		t.Errorf("recorder differs from the result (-result +recorder):\n%s", diff)
	}
}

func TestFreshConnections(t *testing.T) {
	for _, disable := range []bool{true, false} {
		t.Run(fmt.Sprintf("DisableKeepAlives %t", disable), func(t *testing.T) {
			var connections atomic.Int64
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					connections.Add(1)
				}
			}
			server.Start()
			defer server.Close()
			stats, err := loadgen.Run(t.Context(), loadgen.Config{
				Target: server.URL, Rate: 50, Concurrency: 1, Duration: 200 * time.Millisecond, Timeout: 10 * time.Second, DisableKeepAlives: disable,
			})
			if err != nil || stats.Answered != stats.Sent {
				t.Fatalf("counts are %+v, error is %v", stats, err)
			}
			want := int64(1)
			if disable {
				want = int64(stats.Sent)
			}
			if have := connections.Load(); have != want {
				t.Errorf("%d connections for %d requests, want %d", have, stats.Sent, want)
			}
		})
	}
}

func TestFailuresAreCountedByKind(t *testing.T) {
	cases := []struct {
		name    string
		want    loadgen.Failure
		handler http.HandlerFunc
		change  func(*loadgen.Config)
	}{
		{"a status", "status 503", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, nil},
		{"a redirect is not followed", "status 302", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
		}, nil},
		{"a reset", loadgen.Reset, hijacked(func(c *net.TCPConn) { _ = c.SetLinger(0) }), nil},
		{"a close without an answer", loadgen.Closed, hijacked(func(*net.TCPConn) {}), nil},
		{"a close within an answer", loadgen.Closed, hijacked(func(c *net.TCPConn) {
			_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"))
		}), nil},
		{"no answer in time", loadgen.TimedOut, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			func(c *loadgen.Config) { c.Timeout = 50 * time.Millisecond }},
		{"not HTTP", loadgen.Other, hijacked(func(c *net.TCPConn) { _, _ = c.Write([]byte("hello\r\n\r\n")) }), nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(c.handler)
			defer server.Close()
			checkFailure(t, once(t, server.URL, c.change), c.want)
		})
	}
	t.Run("nobody listens", func(t *testing.T) {
		server := httptest.NewServer(nil)
		server.Close()
		checkFailure(t, once(t, server.URL, nil), loadgen.Refused)
	})
}

func checkFailure(t *testing.T, stats loadgen.Stats, want loadgen.Failure) {
	t.Helper()
	if diff := cmp.Diff(map[loadgen.Failure]int{want: 1}, stats.Failures); diff != "" || stats.Failed != 1 || stats.Answered != 0 {
		t.Errorf("counts are %+v, last error %q; failures (-want +have):\n%s", stats, stats.LastError, diff)
	}
}

// hijacked hands each request's connection to end and closes it.
func hijacked(end func(*net.TCPConn)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		end(connection.(*net.TCPConn))
		_ = connection.Close()
	}
}
