package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const assetsVariable = "KUBEBUILDER_ASSETS"

// startTimeout is generous, since test machines are small and busy.
const startTimeout = 2 * time.Minute

// Server is an API server that the tests of one package share. It starts when the first test asks for
// it, so that tests without it stay fast.
//
//	var server = testenv.New("deploy/crds/workloads")
//
//	func TestMain(m *testing.M) { os.Exit(server.Main(m)) }
type Server struct {
	crds []string

	once sync.Once
	env  *envtest.Environment
	err  error
}

// New returns a server with the CRDs found in directories or files, named relative to the root of the
// source tree.
func New(crds ...string) *Server {
	return &Server{crds: crds}
}

// Main runs the tests of a package, stops the server if one was started, and returns the exit code.
func (s *Server) Main(m *testing.M) int {
	code := m.Run()
	if err := s.stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// Config returns how to reach the server as its administrator. The test fails if it cannot be started.
func (s *Server) Config(tb testing.TB) *rest.Config {
	tb.Helper()
	s.once.Do(s.start)
	if s.err != nil {
		tb.Fatal(s.err)
	}
	return rest.CopyConfig(s.env.Config)
}

// Client returns an administrator's client without a cache, that knows the built-in types and those
// that the functions add.
func (s *Server) Client(tb testing.TB, addTypes ...func(*runtime.Scheme) error) client.WithWatch {
	tb.Helper()
	return Client(tb, s.Config(tb), addTypes...)
}

// Namespace makes a namespace for one test and returns its name. It is left behind: the server has no
// controller that would finish its deletion.
func (s *Server) Namespace(tb testing.TB) string {
	tb.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := s.Client(tb).Create(tb.Context(), namespace); err != nil {
		tb.Fatalf("creating a namespace for the test: %v", err)
	}
	return namespace.Name
}

// Client returns a client without a cache for any configuration, such as one wrapped by Faults.
func Client(tb testing.TB, cfg *rest.Config, addTypes ...func(*runtime.Scheme) error) client.WithWatch {
	tb.Helper()
	scheme := runtime.NewScheme()
	for _, add := range append([]func(*runtime.Scheme) error{clientgoscheme.AddToScheme}, addTypes...) {
		if err := add(scheme); err != nil {
			tb.Fatalf("adding types to scheme: %v", err)
		}
	}
	c, err := client.NewWithWatch(cfg, client.Options{Scheme: scheme})
	if err != nil {
		tb.Fatalf("building a client: %v", err)
	}
	return c
}

func (s *Server) start() {
	if os.Getenv(assetsVariable) == "" {
		s.err = fmt.Errorf("%s is not set: run `make envtest`, which builds etcd and kube-apiserver, "+
			"or set it to the directory that `make kubebuilder-assets` prints", assetsVariable)
		return
	}
	root, err := sourceRoot()
	if err != nil {
		s.err = err
		return
	}
	env := &envtest.Environment{
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  startTimeout,
	}
	for _, path := range s.crds {
		env.CRDDirectoryPaths = append(env.CRDDirectoryPaths, filepath.Join(root, path))
	}
	env.ControlPlane.Etcd = &envtest.Etcd{}
	env.ControlPlane.Etcd.Configure().Set("unsafe-no-fsync", "true")
	if _, err := env.Start(); err != nil {
		s.err = errors.Join(fmt.Errorf("starting the API server: %w", err), env.Stop())
		return
	}
	s.env = env
}

func (s *Server) stop() error {
	if s.env == nil {
		return nil
	}
	if err := s.env.Stop(); err != nil {
		return fmt.Errorf("stopping the API server: %w", err)
	}
	return nil
}

// sourceRoot returns the directory of go.work above the test's own, which is its working directory.
func sourceRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the source tree: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("finding the source tree: no go.work above the working directory")
		}
		dir = parent
	}
}

// Until polls a condition until it holds or the deadline of the wait has passed, and then fails the
// test with the last reason. A condition returns an empty string when it holds, and else what is missing.
func Until(tb testing.TB, timeout time.Duration, condition func(context.Context) string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), timeout)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		missing := condition(ctx)
		if missing == "" {
			return
		}
		select {
		case <-ctx.Done():
			tb.Fatalf("after %s: %s", timeout, missing)
		case <-tick.C:
		}
	}
}
