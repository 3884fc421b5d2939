package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadSettings(t *testing.T) {
	cases := []struct {
		name string
		env  map[string]string
		want settings
		fail string // in the error; empty for none
	}{
		{
			name: "defaults",
			env:  map[string]string{"POD_NAME": "web-0", "POD_IP": "10.0.0.1"},
			want: settings{port: "8080", drain: time.Second, answer: answer{Version: "v2", Pod: "web-0", IP: "10.0.0.1"}},
		},
		{
			name: "everything set",
			env: map[string]string{
				"PORT": "81", "POD_NAME": "web-0", "POD_IP": "10.0.0.1", "NODE_NAME": "n", "DRAIN": "0s", "CRASH_AFTER": "2s",
			},
			want: settings{port: "81", crash: true, crashAfter: 2 * time.Second, answer: answer{Version: "v2", Pod: "web-0", IP: "10.0.0.1", Node: "n"}},
		},
		{name: "a drain without a unit", env: map[string]string{"DRAIN": "1"}, fail: "reading DRAIN"},
		{name: "a crash without a unit", env: map[string]string{"CRASH_AFTER": "1"}, fail: "reading CRASH_AFTER"},
	}
	file := filepath.Join(t.TempDir(), "tag")
	if err := os.WriteFile(file, []byte("v2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			have, err := readSettings(file, func(name string) string { return c.env[name] })
			if c.fail != "" {
				if err == nil || !strings.Contains(err.Error(), c.fail) {
					t.Errorf("error is %v, want one with %q", err, c.fail)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, have, cmp.AllowUnexported(settings{})); diff != "" {
				t.Errorf("settings (-want +have):\n%s", diff)
			}
		})
	}
	if _, err := readSettings(file+".missing", os.Getenv); err == nil {
		t.Error("a missing tag file gives no error")
	}
}

func TestServeDrainsWhenItsContextEnds(t *testing.T) {
	want := answer{Version: "v1", Pod: "web-0", IP: "10.0.0.1"}
	url, cancel, ended := start(t, settings{answer: want, drain: time.Second})

	if code := get(t, url+"/readyz", nil); code != http.StatusOK {
		t.Errorf("readiness is %d", code)
	}
	var have answer
	if get(t, url, &have); have != want {
		t.Errorf("answer is %+v, want %+v", have, want)
	}

	cancel(nil)
	for deadline := time.Now().Add(time.Second); get(t, url+"/readyz", nil) != http.StatusServiceUnavailable; {
		if time.Now().After(deadline) {
			t.Fatal("server stays ready after its context ended")
		}
	}
	if err := wait(t, ended); err != nil {
		t.Errorf("server ended with %v", err)
	}
}

func TestServeCrashes(t *testing.T) {
	_, cancel, ended := start(t, settings{drain: time.Hour})
	cancel(errCrash)
	if err := wait(t, ended); !errors.Is(err, errCrash) {
		t.Errorf("server ended with %v", err)
	}
}

func TestAnswersWhileDraining(t *testing.T) {
	s := newServer(settings{answer: answer{Version: "v1"}})
	s.draining.Store(true)
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusOK || w.Header().Get("Connection") != "close" {
		t.Errorf("answer is %d with headers %v, want 200 and Connection: close", w.Code, w.Header())
	}
}

// start serves on a free port until cancel is called; ended gives what serve returned.
func start(t *testing.T, s settings) (url string, cancel context.CancelCauseFunc, ended <-chan error) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	result := make(chan error, 1)
	go func() { result <- newServer(s).serve(ctx, listener) }()
	return "http://" + listener.Addr().String(), cancel, result
}

func wait(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(30 * time.Second):
		t.Fatal("server does not end")
		return nil
	}
}

// get returns the status code of url and decodes the body into v unless it is nil.
func get(t *testing.T, url string, v any) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if v != nil {
		if err := json.NewDecoder(response.Body).Decode(v); err != nil {
			t.Fatal(err)
		}
	}
	return response.StatusCode
}
