// Package crifake knows how to play a container runtime in tests: it serves CRI v1 over gRPC on a unix
// socket, with containers and failures as the test says.
package crifake

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"testing"

	"google.golang.org/grpc"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Method is a call of CRI that the fake answers.
type Method string

// Calls that the fake answers; all others are refused as unimplemented.
const (
	Version         Method = "Version"
	ListContainers  Method = "ListContainers"
	ContainerStatus Method = "ContainerStatus"
	ExecSync        Method = "ExecSync"
	StopContainer   Method = "StopContainer"
	ImageFsInfo     Method = "ImageFsInfo"
	ListImages      Method = "ListImages"
)

// Container is what the fake says of one container.
type Container struct {
	ID          string
	Labels      map[string]string
	Annotations map[string]string
	CreatedAt   int64
	State       runtimev1.ContainerState
	// Env is told as part of the OCI spec, as containerd and CRI-O do. Without it the status holds no
	// details, as with cri-dockerd.
	Env []string
	// Exec answers commands; without it every command fails as not found.
	Exec func(command []string) (stdout string, exitCode int32)
}

// Runtime is a fake runtime. It is safe for concurrent use.
type Runtime struct {
	// Socket is the path of the unix socket.
	Socket string

	mu         sync.Mutex
	name       string
	containers []Container
	failures   map[Method]error
	calls      []Call
	server     *grpc.Server
}

// Call is one call that the fake received.
type Call struct {
	Method Method
	// Container is the ID that the call named, if any.
	Container string
	// Command of an ExecSync.
	Command []string
	// Timeout of an ExecSync or StopContainer, in seconds.
	Timeout int64
}

// SocketDir makes a directory for sockets that is removed when the test ends. Its path is short, as the
// kernel wants it.
func SocketDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "cri") //nolint:usetesting // TempDir has too long a path
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	})
	return dir
}

// Start serves a runtime of the given name at a path until the test ends or Stop is called.
func Start(tb testing.TB, name, socket string) *Runtime {
	tb.Helper()
	r := &Runtime{Socket: socket, name: name, failures: make(map[Method]error)}
	r.Serve(tb)
	tb.Cleanup(r.Stop)
	return r
}

// Serve listens again after Stop.
func (r *Runtime) Serve(tb testing.TB) {
	tb.Helper()
	listener, err := (&net.ListenConfig{}).Listen(tb.Context(), "unix", r.Socket)
	if err != nil {
		tb.Fatalf("listening as a fake runtime: %v", err)
	}
	server := grpc.NewServer()
	runtimev1.RegisterRuntimeServiceServer(server, &runtimeService{r: r})
	runtimev1.RegisterImageServiceServer(server, &imageService{r: r})
	r.mu.Lock()
	r.server = server
	r.mu.Unlock()
	// Serve returns an error only if the listener breaks, which the calls of the test then show.
	go func() { _ = server.Serve(listener) }()
}

// Stop ends the server and removes the socket, as the end of a runtime does.
func (r *Runtime) Stop() {
	r.mu.Lock()
	server := r.server
	r.mu.Unlock()
	server.Stop()
	_ = os.Remove(r.Socket) // already gone if the listener removed it
}

// Run adds containers, or replaces those with the same ID.
func (r *Runtime) Run(containers ...Container) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range containers {
		others := slices.DeleteFunc(r.containers, func(other Container) bool { return other.ID == c.ID })
		r.containers = append(others, c)
	}
}

// Rename makes the runtime answer under another name.
func (r *Runtime) Rename(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.name = name
}

// Fail makes every call of a method fail with the error; nil ends that.
func (r *Runtime) Fail(method Method, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures[method] = err
}

// Calls returns the calls of a method so far, in order.
func (r *Runtime) Calls(method Method) []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.calls), func(c Call) bool { return c.Method != method })
}

// receive records a call and returns how it is to fail.
func (r *Runtime) receive(call Call) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
	return r.failures[call.Method]
}

// find returns a copy of a container.
func (r *Runtime) find(id string) (Container, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.containers, func(c Container) bool { return c.ID == id })
	if i < 0 {
		return Container{}, notFound(id)
	}
	return r.containers[i], nil
}

// info is the verbose part of a container's status.
func (c Container) info() (map[string]string, error) {
	if c.Env == nil {
		return nil, nil
	}
	raw, err := json.Marshal(map[string]any{
		"sandboxID":   "fake",
		"runtimeSpec": map[string]any{"ociVersion": "1.2.0", "process": map[string]any{"env": c.Env}},
	})
	if err != nil {
		return nil, fmt.Errorf("encoding details of container %s: %w", c.ID, err)
	}
	return map[string]string{"info": string(raw)}, nil
}

// imageService answers what the daemon asks before it accepts a runtime.
type imageService struct {
	runtimev1.UnimplementedImageServiceServer
	r *Runtime
}

func (s *imageService) ImageFsInfo(context.Context, *runtimev1.ImageFsInfoRequest) (*runtimev1.ImageFsInfoResponse, error) {
	return &runtimev1.ImageFsInfoResponse{}, s.r.receive(Call{Method: ImageFsInfo})
}

func (s *imageService) ListImages(context.Context, *runtimev1.ListImagesRequest) (*runtimev1.ListImagesResponse, error) {
	return &runtimev1.ListImagesResponse{}, s.r.receive(Call{Method: ListImages})
}
