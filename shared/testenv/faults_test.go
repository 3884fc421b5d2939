package testenv_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/flotilla-k8s/flotilla/shared/testenv"
)

// echo answers every request with an empty pod, and counts what arrives.
func echo(t *testing.T) (*rest.Config, *int) {
	t.Helper()
	arrived := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived++
		w.Header().Set("Content-Type", "application/json")
		if _, err := w.Write([]byte(`{"kind":"Pod","apiVersion":"v1"}`)); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}, &arrived
}

func create(t *testing.T, cfg *rest.Config) error {
	t.Helper()
	_, err := kubernetes.NewForConfigOrDie(cfg).CoreV1().Pods("ns").Create(t.Context(), &corev1.Pod{}, metav1.CreateOptions{})
	return err
}

func get(t *testing.T, cfg *rest.Config) error {
	t.Helper()
	_, err := kubernetes.NewForConfigOrDie(cfg).CoreV1().Pods("ns").Get(t.Context(), "a", metav1.GetOptions{})
	return err
}

func isPod(w testenv.Write) bool { return w.Resource == "pods" }

func TestFaults(t *testing.T) {
	conflict := apierrors.NewConflict(corev1.Resource("pods"), "a", errors.New("changed"))
	cases := []struct {
		name string
		testenv.Fault
		wantErr     []bool // of three creates
		wantArrived int
		wantCounted int
	}{
		{name: "before the second write: it does not arrive", Fault: testenv.Fault{Match: isPod, Nth: 2}, wantErr: []bool{false, true, false}, wantArrived: 2, wantCounted: 2},
		{name: "after the second write: it arrives, the answer is lost", Fault: testenv.Fault{Nth: 2, After: true}, wantErr: []bool{false, true, false}, wantArrived: 3, wantCounted: 3},
		{name: "every write", Fault: testenv.Fault{}, wantErr: []bool{true, true, true}},
		{name: "another resource", Fault: testenv.Fault{Match: func(w testenv.Write) bool { return w.Resource == "nodes" }}, wantErr: []bool{false, false, false}, wantArrived: 3, wantCounted: 3},
		{name: "crash before the second write: nothing works after it", Fault: testenv.Fault{Nth: 2, Crash: true}, wantErr: []bool{false, true, true}, wantArrived: 1, wantCounted: 1},
		{name: "crash after the second write", Fault: testenv.Fault{Nth: 2, After: true, Crash: true}, wantErr: []bool{false, true, true}, wantArrived: 2, wantCounted: 2},
		{name: "an answer of the API server", Fault: testenv.Fault{Nth: 1, Answer: conflict}, wantErr: []bool{true, false, false}, wantArrived: 2, wantCounted: 2},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			plain, arrived := echo(t)
			var faults testenv.Faults
			cfg := faults.Wrap(plain)
			faults.Inject(tc.Fault)
			for i, want := range tc.wantErr {
				err := create(t, cfg)
				if (err != nil) != want {
					t.Errorf("write %d: error %v, want an error: %t", i+1, err, want)
				}
				if err != nil && tc.Answer == nil && !errors.Is(err, testenv.ErrInjected) {
					t.Errorf("write %d: error %v is not the injected one", i+1, err)
				}
				if err != nil && tc.Answer != nil && !apierrors.IsConflict(err) {
					t.Errorf("write %d: error %v is not the injected answer", i+1, err)
				}
			}
			if *arrived != tc.wantArrived {
				t.Errorf("%d writes arrived, want %d", *arrived, tc.wantArrived)
			}
			if got := faults.Counts()["create pods"]; got != tc.wantCounted {
				t.Errorf("%d writes counted, want %d", got, tc.wantCounted)
			}
			faults.Recover()
			if err := create(t, cfg); err != nil {
				t.Errorf("after Recover: %v", err)
			}
		})
	}
}

func TestCrashStopsReads(t *testing.T) {
	plain, _ := echo(t)
	var faults testenv.Faults
	cfg := faults.Wrap(plain)
	if err := get(t, cfg); err != nil {
		t.Fatal(err)
	}
	faults.Inject(testenv.Fault{Nth: 1, Crash: true})
	if err := create(t, cfg); err == nil || !faults.Crashed() {
		t.Fatal("the crash did not happen")
	}
	if err := get(t, cfg); !errors.Is(err, testenv.ErrInjected) {
		t.Errorf("a read after the crash gave %v", err)
	}
}

func TestWrites(t *testing.T) {
	plain, _ := echo(t)
	var faults testenv.Faults
	pods := kubernetes.NewForConfigOrDie(faults.Wrap(plain)).CoreV1().Pods("ns")
	calls := []func() error{
		func() error {
			_, err := pods.Update(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.UpdateOptions{})
			return err
		},
		func() error {
			_, err := pods.Patch(t.Context(), "a", "application/merge-patch+json", []byte("{}"), metav1.PatchOptions{}, "status")
			return err
		},
		func() error {
			_, err := pods.Patch(t.Context(), "a", "application/merge-patch+json", []byte("{}"), metav1.PatchOptions{DryRun: []string{"All"}})
			return err
		},
		func() error { return pods.Delete(t.Context(), "a", metav1.DeleteOptions{}) },
		func() error { return pods.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}) },
		func() error {
			_, err := kubernetes.NewForConfigOrDie(faults.Wrap(plain)).AppsV1().Deployments("ns").Patch(t.Context(), "d", "application/merge-patch+json", []byte("{}"), metav1.PatchOptions{})
			return err
		},
		func() error {
			return kubernetes.NewForConfigOrDie(faults.Wrap(plain)).CoreV1().Namespaces().Delete(t.Context(), "ns", metav1.DeleteOptions{})
		},
	}
	for i, call := range calls {
		if err := call(); err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	want := []testenv.Write{
		{Verb: "update", Resource: "pods", Namespace: "ns", Name: "a"},
		{Verb: "patch", Resource: "pods", Subresource: "status", Namespace: "ns", Name: "a"},
		{Verb: "delete", Resource: "pods", Namespace: "ns", Name: "a"},
		{Verb: "deletecollection", Resource: "pods", Namespace: "ns"},
		{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "ns", Name: "d"},
		{Verb: "delete", Resource: "namespaces", Name: "ns"},
	}
	if diff := cmp.Diff(want, faults.Writes()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	faults.Reset()
	if n := len(faults.Writes()); n != 0 {
		t.Errorf("%d writes after Reset", n)
	}
}
