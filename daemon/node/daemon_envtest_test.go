package node_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	kubelettypes "k8s.io/kubelet/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/daemon/cri/crifake"
	"github.com/flotilla-k8s/flotilla/daemon/node"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/gates"
	"github.com/flotilla-k8s/flotilla/shared/testenv"
)

const patience = time.Minute

// world is one node with its runtime and its daemon.
type world struct {
	admin     client.Client
	node      string
	namespace string
	faults    *testenv.Faults
	cfg       *rest.Config
	opts      node.Options

	mu    sync.Mutex
	reads []string
}

// newWorld makes a node. The runtime is not there yet, and the daemon does not run.
func newWorld(t *testing.T) *world {
	t.Helper()
	admin := install(t)
	w := &world{admin: admin, node: nodeFor(t, admin), namespace: server.Namespace(t), faults: &testenv.Faults{}}
	w.cfg = w.faults.Wrap(as(t, admin, w.node))
	w.cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			if req.Method == http.MethodGet && strings.Contains(req.URL.Path, "/pods") {
				w.mu.Lock()
				w.reads = append(w.reads, req.URL.String())
				w.mu.Unlock()
			}
			return next.RoundTrip(req)
		})
	})
	w.opts = node.DefaultOptions(w.node, 0)
	w.opts.SocketDir = crifake.SocketDir(t)
	w.opts.Addr = freeAddress(t)
	w.opts.SharedProcess = true
	return w
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// runtime starts a runtime on the node.
func (w *world) runtime(t *testing.T) *crifake.Runtime {
	t.Helper()
	return crifake.Start(t, "containerd", filepath.Join(w.opts.SocketDir, "containerd.sock"))
}

// start runs the daemon; the function that it returns stops it and waits for its end.
func (w *world) start(t *testing.T) (stop func()) {
	t.Helper()
	opts := w.opts
	opts.Registry = prometheus.NewRegistry()
	ctx, cancel := context.WithCancel(t.Context())
	daemon, err := node.New(ctx, w.cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- daemon.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the daemon ended with %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// get reads an endpoint of the daemon.
func (w *world) get(ctx context.Context, path string) (int, string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.opts.Addr+path, nil)
	if err != nil {
		return 0, err.Error()
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(body)
}

func (w *world) awaitHealthy(t *testing.T) {
	t.Helper()
	testenv.Until(t, patience, func(ctx context.Context) string {
		if code, body := w.get(ctx, "/healthz"); code != http.StatusOK || body != "ok" {
			return fmt.Sprintf("healthz answers %d %s", code, body)
		}
		return ""
	})
}

// annotation reads what is reported of a pod.
func (w *world) annotation(ctx context.Context, pod *corev1.Pod) string {
	var now corev1.Pod
	if err := w.admin.Get(ctx, client.ObjectKeyFromObject(pod), &now); err != nil {
		return err.Error()
	}
	return now.Annotations[wire.AnnotationRuntimeContainersMeta]
}

func (w *world) awaitReport(t *testing.T, pod *corev1.Pod, want string) {
	t.Helper()
	testenv.Until(t, patience, func(ctx context.Context) string {
		if got := w.annotation(ctx, pod); got != want {
			return fmt.Sprintf("pod %s reports %q, want %q", pod.Name, got, want)
		}
		return ""
	})
}

// container is one of a pod in the runtime, as the kubelet makes it.
func container(pod *corev1.Pod, id, hash string, env ...string) crifake.Container {
	return crifake.Container{
		ID: id, State: runtimev1.ContainerState_CONTAINER_RUNNING, CreatedAt: time.Now().UnixNano(), Env: env,
		Labels:      map[string]string{kubelettypes.KubernetesPodUIDLabel: string(pod.UID), kubelettypes.KubernetesContainerNameLabel: "main"},
		Annotations: map[string]string{"io.kubernetes.container.hash": hash, "io.kubernetes.container.restartCount": "1"},
	}
}

// report is what stands on a pod whose container main was started with label l at 1.
func report(id string, plainHash int) string {
	return fmt.Sprintf(`{"containers":[{"name":"main","containerID":"containerd://%s","restartCount":1,`+
		`"hashes":{"plainHash":%d,"extractedEnvFromMetadataHash":3702850206}}]}`, id, plainHash)
}

// env is that of a container with label l at 1.
const env = "L=1"

func TestReport(t *testing.T) {
	w := newWorld(t)
	fake := w.runtime(t)
	w.start(t)
	w.awaitHealthy(t)

	other := nodeFor(t, w.admin)
	pod := podOn(t, w.admin, w.node, w.namespace, "ours")
	foreign := podOn(t, w.admin, w.node, w.namespace, "foreign", func(pod *corev1.Pod) { pod.OwnerReferences = nil })
	elsewhere := podOn(t, w.admin, other, w.namespace, "elsewhere")
	for _, p := range []*corev1.Pod{foreign, elsewhere} {
		fake.Run(container(p, p.Name, "1", env))
		playKubelet(t, w.admin, p, "containerd://"+p.Name)
	}
	fake.Run(container(pod, "m1", "b", env))
	playKubelet(t, w.admin, pod, "containerd://m1")

	t.Run("IP-80, IP-84, IP-85: a container with a new ID is reported", func(t *testing.T) {
		w.awaitReport(t, pod, report("m1", 11))
	})
	t.Run("IP-83: a restarted container is reported with its own hash", func(t *testing.T) {
		fake.Run(container(pod, "m2", "c", env))
		playKubelet(t, w.admin, pod, "containerd://m2")
		w.awaitReport(t, pod, report("m2", 12))
	})
	t.Run("M-20: one write for each, through pods/status", func(t *testing.T) {
		if got := fmt.Sprint(w.faults.Counts()); got != "map[patch pods/status:2]" {
			t.Errorf("wrote %s", got)
		}
	})
	t.Run("M-13: the environment is read once per container ID", func(t *testing.T) {
		if calls := fake.Calls(crifake.ContainerStatus); len(calls) != 2 {
			t.Errorf("read %v", calls)
		}
	})
	t.Run("IP-81: pods of others and of other nodes are left alone", func(t *testing.T) {
		for _, p := range []*corev1.Pod{foreign, elsewhere} {
			if got := w.annotation(t.Context(), p); got != "" {
				t.Errorf("pod %s reports %s", p.Name, got)
			}
		}
	})
	t.Run("design: pods are read by list and watch of the own node alone", func(t *testing.T) {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, url := range w.reads {
			if !strings.Contains(url, "fieldSelector=spec.nodeName%3D"+w.node) {
				t.Errorf("reads %s", url)
			}
		}
		if len(w.reads) == 0 {
			t.Error("reads no pods")
		}
	})
	t.Run("D-16: metrics name the queue", func(t *testing.T) {
		if code, body := w.get(t.Context(), "/metrics"); code != http.StatusOK || !strings.Contains(body, `workqueue_adds_total{controller="runtime_container_meta"`) {
			t.Errorf("answers %d without the queue", code)
		}
	})
	t.Run("what cannot be read does not keep the rest from being reported, and is tried again", func(t *testing.T) {
		fake.Fail(crifake.ContainerStatus, fmt.Errorf("injected"))
		fake.Run(container(pod, "m3", "d", env))
		playKubelet(t, w.admin, pod, "containerd://m3")
		w.awaitReport(t, pod, strings.Replace(report("m3", 13), `,"extractedEnvFromMetadataHash":3702850206`, "", 1))
		fake.Fail(crifake.ContainerStatus, nil)
		w.awaitReport(t, pod, report("m3", 13))
	})
}

func TestRestartOfTheDaemon(t *testing.T) {
	w := newWorld(t)
	fake := w.runtime(t)
	stop := w.start(t)
	w.awaitHealthy(t)

	known := podOn(t, w.admin, w.node, w.namespace, "known")
	fake.Run(container(known, "k1", "b", env))
	playKubelet(t, w.admin, known, "containerd://k1")
	w.awaitReport(t, known, report("k1", 11))
	stop()
	w.faults.Reset()

	// While no daemon runs: a new pod, one that waits in an in-place update, and a restarted container.
	fresh := podOn(t, w.admin, w.node, w.namespace, "fresh")
	waiting := podOn(t, w.admin, w.node, w.namespace, "waiting")
	changed := podOn(t, w.admin, w.node, w.namespace, "changed", func(pod *corev1.Pod) {
		pod.Annotations[wire.AnnotationRuntimeContainersMeta] = report("old", 1)
	})
	for _, p := range []*corev1.Pod{fresh, waiting, changed} {
		fake.Run(container(p, p.Name, "c", env))
		playKubelet(t, w.admin, p, "containerd://"+p.Name)
	}
	base := waiting.DeepCopy()
	waiting.Status.Conditions = append(waiting.Status.Conditions, corev1.PodCondition{Type: wire.InPlaceUpdateReady, Status: corev1.ConditionFalse})
	if err := w.admin.Status().Patch(t.Context(), waiting, client.StrategicMergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	w.start(t)

	t.Run("M-16: a pod with the annotation is checked at the start", func(t *testing.T) {
		w.awaitReport(t, changed, report("changed", 12))
	})
	t.Run("M-16, M-31: so is one in an in-place update, which would wait for ever", func(t *testing.T) {
		w.awaitReport(t, waiting, report("waiting", 12))
	})
	t.Run("E-22, M-16: nothing else is written", func(t *testing.T) {
		for _, write := range w.faults.Writes() {
			if write.Name != "changed" && write.Name != "waiting" {
				t.Errorf("wrote %+v", write)
			}
		}
	})
	t.Run("M-16: a pod without the annotation is reported at its next change", func(t *testing.T) {
		base := fresh.DeepCopy()
		fresh.Labels["l2"] = "1"
		if err := w.admin.Patch(t.Context(), fresh, client.MergeFrom(base)); err != nil {
			t.Fatal(err)
		}
		w.awaitReport(t, fresh, report("fresh", 12))
	})
	t.Run("E-22: known pods are not written again", func(t *testing.T) {
		if got := fmt.Sprint(w.faults.Counts()); got != "map[patch pods/status:3]" {
			t.Errorf("wrote %s", got)
		}
	})
}

func TestCrashAroundTheWrite(t *testing.T) {
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprintf("a daemon that dies at the write, after it: %t, goes on and repeats nothing", after), func(t *testing.T) {
			w := newWorld(t)
			fake := w.runtime(t)
			pod := podOn(t, w.admin, w.node, w.namespace, "pod", func(pod *corev1.Pod) {
				pod.Annotations[wire.AnnotationRuntimeContainersMeta] = report("old", 1)
			})
			fake.Run(container(pod, "m1", "b", env))
			playKubelet(t, w.admin, pod, "containerd://m1")
			w.faults.Inject(testenv.Fault{Nth: 1, After: after, Crash: true})
			stop := w.start(t)
			testenv.Until(t, patience, func(context.Context) string {
				if w.faults.Crashed() {
					return ""
				}
				return "nothing was written"
			})
			stop()
			w.faults.Recover()

			w.start(t)
			w.awaitReport(t, pod, report("m1", 11))
			w.awaitHealthy(t)
			if got := fmt.Sprint(w.faults.Counts()); got != "map[patch pods/status:1]" {
				t.Errorf("wrote %s", got)
			}
		})
	}
}

func TestNoRuntime(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	t.Run("DE-15: healthz fails and says why", func(t *testing.T) {
		testenv.Until(t, patience, func(ctx context.Context) string {
			code, body := w.get(ctx, "/healthz")
			if code != http.StatusInternalServerError || !strings.Contains(body, "check containerRuntime failed, err: no socket at any of") {
				return fmt.Sprintf("healthz answers %d %s", code, body)
			}
			return ""
		})
	})
	t.Run("KP-20: the process is alive nevertheless", func(t *testing.T) {
		if code, body := w.get(t.Context(), "/livez"); code != http.StatusOK {
			t.Errorf("livez answers %d %s", code, body)
		}
	})
	t.Run("KP-21: an event on the node says why", func(t *testing.T) {
		testenv.Until(t, patience, func(ctx context.Context) string {
			var list eventsv1.EventList
			if err := w.admin.List(ctx, &list); err != nil {
				return err.Error()
			}
			for _, e := range list.Items {
				if e.Reason == "ContainerRuntimeUnavailable" && e.Regarding.Kind == "Node" && e.Regarding.Name == w.node && strings.Contains(e.Note, "no socket") {
					return ""
				}
			}
			return "no event"
		})
	})
	pod := podOn(t, w.admin, w.node, w.namespace, "pod")
	playKubelet(t, w.admin, pod, "containerd://m1")
	t.Run("KP-21: a runtime that comes later is found, and what waited is reported", func(t *testing.T) {
		w.runtime(t).Run(container(pod, "m1", "b", env))
		w.awaitReport(t, pod, report("m1", 11))
		w.awaitHealthy(t)
	})
}

func TestGates(t *testing.T) {
	t.Run("M-6: without InPlaceUpdateEnvFromMetadata there is no env hash", func(t *testing.T) {
		w := newWorld(t)
		w.opts.Gates = w.opts.Gates.With(gates.InPlaceUpdateEnvFromMetadata, false)
		fake := w.runtime(t)
		w.start(t)
		w.awaitHealthy(t)
		pod := podOn(t, w.admin, w.node, w.namespace, "pod")
		fake.Run(container(pod, "m1", "b", env))
		playKubelet(t, w.admin, pod, "containerd://m1")
		w.awaitReport(t, pod, strings.Replace(report("m1", 11), `,"extractedEnvFromMetadataHash":3702850206`, "", 1))
		if calls := fake.Calls(crifake.ContainerStatus); len(calls) != 0 {
			t.Errorf("read %v", calls)
		}
	})
	t.Run("DEP-137: without DaemonWatchingPod no pods are read", func(t *testing.T) {
		w := newWorld(t)
		w.opts.Gates = w.opts.Gates.With(gates.DaemonWatchingPod, false)
		w.runtime(t)
		w.start(t)
		w.awaitHealthy(t)
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.reads) != 0 {
			t.Errorf("reads %v", w.reads)
		}
	})
}

func TestNewRefuses(t *testing.T) {
	cases := []struct {
		name   string
		change func(*node.Options)
		want   string
	}{
		{name: "D-4: no node name", change: func(o *node.Options) { o.NodeName = "" }, want: "NODE_NAME is not set"},
		{name: "R-11: an endpoint that cannot be read", change: func(o *node.Options) { o.RuntimeEndpoint = "tcp://x" }, want: "parsing runtime endpoint"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			opts := node.DefaultOptions("n", 0)
			tc.change(&opts)
			if _, err := node.New(t.Context(), &rest.Config{}, opts); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestPodOfTheSameName(t *testing.T) {
	w := newWorld(t)
	fake := w.runtime(t)
	first := podOn(t, w.admin, w.node, w.namespace, "pod")
	if err := w.admin.Delete(t.Context(), first, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	second := podOn(t, w.admin, w.node, w.namespace, "pod")
	w.start(t)
	w.awaitHealthy(t)
	fake.Run(container(first, "m1", "b", env), container(second, "m2", "c", env))
	playKubelet(t, w.admin, second, "containerd://m2")
	w.awaitReport(t, second, report("m2", 12))

	stale := client.RawPatch("application/strategic-merge-patch+json",
		fmt.Appendf(nil, `{"metadata":{"uid":%q,"annotations":{%q:"x"}}}`, first.UID, wire.AnnotationRuntimeContainersMeta))
	target := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: second.Namespace, Name: second.Name}}
	if err := testenv.Client(t, w.cfg).Status().Patch(t.Context(), target, stale); err == nil {
		t.Error("a report of the pod that was there before is written to its successor")
	}
}
