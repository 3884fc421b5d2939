package stop_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/clock"

	"github.com/flotilla-k8s/flotilla/daemon/cri"
	"github.com/flotilla-k8s/flotilla/daemon/cri/crifake"
	"github.com/flotilla-k8s/flotilla/daemon/stop"
)

// runtime serves a container c that runs and knows the command "hook".
func runtime(t *testing.T) (*crifake.Runtime, *cri.Client) {
	t.Helper()
	fake := crifake.Start(t, "containerd", filepath.Join(crifake.SocketDir(t), "s"))
	fake.Run(crifake.Container{
		ID: "c", State: runtimev1.ContainerState_CONTAINER_RUNNING,
		Exec: func(command []string) (string, int32) {
			if command[0] == "hook" {
				return "", 0
			}
			return "", 1
		},
	})
	client, err := cri.Dial(t.Context(), fake.Socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return fake, client
}

func target(hook *corev1.LifecycleHandler, grace time.Duration) stop.Target {
	spec := &corev1.Container{Name: "main", Ports: []corev1.ContainerPort{{Name: "web", ContainerPort: 1}}}
	if hook != nil {
		spec.Lifecycle = &corev1.Lifecycle{PreStop: hook}
	}
	return stop.Target{ID: "c", Spec: spec, Grace: grace}
}

func exec(command string) *corev1.LifecycleHandler {
	return &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{command}}}
}

func TestContainer(t *testing.T) {
	cases := []struct {
		name      string
		target    stop.Target
		wantHooks int
		wantError string
		wantGrace int64
	}{
		{name: "X-55: no hook, the whole grace period", target: target(nil, 30*time.Second), wantGrace: 30},
		{name: "a lifecycle without a preStop hook", target: stop.Target{ID: "c", Spec: &corev1.Container{Lifecycle: &corev1.Lifecycle{}}, Grace: 30 * time.Second}, wantGrace: 30},
		{name: "X-51: the hook runs first", target: target(exec("hook"), 30*time.Second), wantHooks: 1, wantGrace: 30},
		{name: "X-51: a hook that fails does not keep the container", target: target(exec("fail"), 30*time.Second), wantHooks: 1, wantError: "exit code 1", wantGrace: 30},
		{name: "X-54: no grace period, no hook, 2 s", target: target(exec("hook"), 0), wantGrace: 2},
		{name: "X-51: a hook without an action fails", target: target(&corev1.LifecycleHandler{}, 30*time.Second), wantError: "neither exec", wantGrace: 30},
		{
			name:      "X-51: tcpSocket is unsupported",
			target:    target(&corev1.LifecycleHandler{TCPSocket: &corev1.TCPSocketAction{}}, 30*time.Second),
			wantError: "neither exec", wantGrace: 30,
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			fake, client := runtime(t)
			result, err := stop.Container(t.Context(), client, clock.RealClock{}, tc.target)
			if err != nil {
				t.Fatal(err)
			}
			if (result.HookError != nil) != (tc.wantError != "") || result.HookError != nil && !strings.Contains(result.HookError.Error(), tc.wantError) {
				t.Errorf("hook: got %v, want %q", result.HookError, tc.wantError)
			}
			if hooks := fake.Calls(crifake.ExecSync); len(hooks) != tc.wantHooks {
				t.Errorf("ran %+v", hooks)
			}
			if stops := fake.Calls(crifake.StopContainer); len(stops) != 1 || stops[0].Timeout != tc.wantGrace {
				t.Errorf("stopped %+v, want a grace period of %d", stops, tc.wantGrace)
			}
		})
	}
}

// recorder is a runtime that notes how it was asked to stop a container; time is that of a bubble.
type recorder struct {
	cri.Runtime
	grace time.Duration
}

func (r *recorder) Stop(_ context.Context, _ string, grace time.Duration) error {
	r.grace = grace
	return nil
}

func (r *recorder) Exec(ctx context.Context, _ string, _ []string) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestTimeOfHooks(t *testing.T) {
	sleep := func(seconds int64) *corev1.LifecycleHandler {
		return &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: seconds}}
	}
	cases := []struct {
		name      string
		hook      *corev1.LifecycleHandler
		wantTook  time.Duration
		wantGrace time.Duration
		wantError error
	}{
		{name: "KP-6, X-53: sleep is honoured and taken off the grace period", hook: sleep(8), wantTook: 8 * time.Second, wantGrace: 22 * time.Second},
		{name: "X-53: 2 s are left", hook: sleep(29), wantTook: 29 * time.Second, wantGrace: 2 * time.Second},
		{name: "X-51: a sleep ends with the grace period", hook: sleep(99), wantTook: 30 * time.Second, wantGrace: 2 * time.Second, wantError: context.DeadlineExceeded},
		{name: "X-51: a command ends with the grace period", hook: exec("hang"), wantTook: 30 * time.Second, wantGrace: 2 * time.Second, wantError: context.DeadlineExceeded},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				started := clock.RealClock{}.Now()
				r := &recorder{}
				result, err := stop.Container(t.Context(), r, clock.RealClock{}, target(tc.hook, 30*time.Second))
				if err != nil || !errors.Is(result.HookError, tc.wantError) {
					t.Errorf("got %v, %v", result.HookError, err)
				}
				if took := (clock.RealClock{}).Since(started); took != tc.wantTook || r.grace != tc.wantGrace {
					t.Errorf("took %s and left %s, want %s and %s", took, r.grace, tc.wantTook, tc.wantGrace)
				}
			})
		})
	}
	t.Run("a daemon that ends during a hook stops nothing; the next one begins anew", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			r := &recorder{}
			if _, err := stop.Container(ctx, r, clock.RealClock{}, target(sleep(8), 30*time.Second)); err == nil || r.grace != 0 {
				t.Errorf("got %v and stopped with %s", err, r.grace)
			}
		})
	})
}

func TestHTTPHook(t *testing.T) {
	var seen []*http.Request
	handler := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		seen = append(seen, req)
		if req.URL.Path == "/away" {
			http.Redirect(w, req, "/there", http.StatusFound)
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
	})
	plain, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	port := func(s *httptest.Server) int {
		_, text, err := net.SplitHostPort(s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		number, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return number
	}
	cases := []struct {
		name      string
		action    corev1.HTTPGetAction
		noIP      bool
		wantPath  string
		wantError string
	}{
		{name: "KP-5: the host is that of the pod; any answer is success", action: corev1.HTTPGetAction{Path: "/bye?now=1", Port: intstr.FromInt(port(plain))}, wantPath: "/bye?now=1"},
		{name: "a path without a slash", action: corev1.HTTPGetAction{Path: "bye", Port: intstr.FromInt(port(plain))}, wantPath: "/bye"},
		{name: "a redirection is an answer", action: corev1.HTTPGetAction{Path: "/away", Port: intstr.FromInt(port(plain))}, wantPath: "/away"},
		{name: "a host of its own", action: corev1.HTTPGetAction{Host: "localhost", Port: intstr.FromInt(port(plain))}, noIP: true, wantPath: "/"},
		{name: "HTTPS without a known certificate", action: corev1.HTTPGetAction{Scheme: "HTTPS", Port: intstr.FromInt(port(secure))}, wantPath: "/"},
		{name: "X-51: HTTPS falls back to HTTP", action: corev1.HTTPGetAction{Scheme: "HTTPS", Port: intstr.FromInt(port(plain))}, wantPath: "/"},
		{name: "X-51: a named port", action: corev1.HTTPGetAction{Port: intstr.FromString("web")}, wantPath: "/"},
		{name: "a port in words", action: corev1.HTTPGetAction{Port: intstr.FromString(strconv.Itoa(port(plain)))}, wantPath: "/"},
		{name: "an unknown port", action: corev1.HTTPGetAction{Port: intstr.FromString("none")}, wantError: `no port "none"`},
		{name: "a pod without an IP", action: corev1.HTTPGetAction{Port: intstr.FromInt(1)}, noIP: true, wantError: "no IP yet"},
		{name: "a path that is none", action: corev1.HTTPGetAction{Path: "%", Port: intstr.FromInt(1)}, wantError: "parsing path"},
		{name: "nobody answers", action: corev1.HTTPGetAction{Port: intstr.FromInt(1)}, wantError: "connection refused"},
		{
			name:     "headers are sent",
			action:   corev1.HTTPGetAction{Port: intstr.FromInt(port(plain)), HTTPHeaders: []corev1.HTTPHeader{{Name: "X-A", Value: "1"}, {Name: "host", Value: "example.com"}}},
			wantPath: "/",
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			seen = nil
			_, client := runtime(t)
			target := target(&corev1.LifecycleHandler{HTTPGet: &tc.action}, 30*time.Second)
			target.Spec.Ports[0].ContainerPort = int32(port(plain))
			if !tc.noIP {
				target.PodIP = "127.0.0.1"
			}
			result, err := stop.Container(t.Context(), client, clock.RealClock{}, target)
			if err != nil {
				t.Fatal(err)
			}
			if tc.wantError != "" {
				if result.HookError == nil || !strings.Contains(result.HookError.Error(), tc.wantError) {
					t.Errorf("got %v, want %q", result.HookError, tc.wantError)
				}
				return
			}
			if result.HookError != nil || len(seen) != 1 || seen[0].URL.String() != tc.wantPath {
				t.Fatalf("got %v after %v", result.HookError, seen)
			}
			if len(tc.action.HTTPHeaders) > 0 && (seen[0].Header.Get("X-A") != "1" || seen[0].Host != "example.com") {
				t.Errorf("got headers %v and host %s", seen[0].Header, seen[0].Host)
			}
		})
	}
}
