package cri

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	kubelettypes "k8s.io/kubelet/pkg/types"
)

// maxMessage is the largest answer that is taken, in bytes.
const maxMessage = 16 << 20

// Client is a Runtime behind a unix socket. It connects again by itself when the runtime restarts.
type Client struct {
	conn     *grpc.ClientConn
	runtimes runtimev1.RuntimeServiceClient
	images   runtimev1.ImageServiceClient
	// name follows the Version answers, since another runtime may come up behind the same path.
	name atomic.Pointer[string]
}

var _ Runtime = (*Client)(nil)

// Dial returns a client of the runtime that listens at a unix socket, once it has shown that it serves
// images and containers over CRI v1. Source: R-5.
func Dial(ctx context.Context, socket string) (*Client, error) {
	if err := knock(ctx, socket); err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient("unix://"+socket,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 3 * time.Second},
			MinConnectTimeout: requestTimeout,
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", socket, err)
	}
	c := &Client{
		conn:     conn,
		runtimes: runtimev1.NewRuntimeServiceClient(conn),
		images:   runtimev1.NewImageServiceClient(conn),
	}
	if err := c.accept(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// knock opens and closes the socket, which tells more plainly than a gRPC call why it cannot be used.
func knock(ctx context.Context, socket string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("connecting (does SELinux or AppArmor confine the daemon?): %w", err)
	case err != nil:
		return fmt.Errorf("connecting: %w", err)
	}
	return conn.Close()
}

// accept asks what every part of the daemon needs an answer to.
func (c *Client) accept(ctx context.Context) error {
	if err := c.acceptImages(ctx); err != nil {
		return err
	}
	return c.Ping(ctx)
}

func (c *Client) acceptImages(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, imageFsTimeout)
	defer cancel()
	if _, err := c.images.ImageFsInfo(ctx, &runtimev1.ImageFsInfoRequest{}); err != nil {
		return fmt.Errorf("asking for the image file system: %w", err)
	}
	if _, err := c.images.ListImages(ctx, &runtimev1.ListImagesRequest{}); err != nil {
		return fmt.Errorf("listing images: %w", err)
	}
	return nil
}

// Ping asks the runtime for its version and takes its name from the answer.
func (c *Client) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	version, err := c.runtimes.Version(ctx, &runtimev1.VersionRequest{})
	if err != nil {
		return fmt.Errorf("asking for the version: %w", err)
	}
	c.name.Store(&version.RuntimeName)
	return nil
}

// Name implements Runtime.
func (c *Client) Name() string {
	return *c.name.Load()
}

// Close ends the connection.
func (c *Client) Close() error {
	return c.conn.Close()
}

// Containers implements Runtime.
func (c *Client) Containers(ctx context.Context, podUID string) ([]Container, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	answer, err := c.runtimes.ListContainers(ctx, &runtimev1.ListContainersRequest{
		Filter: &runtimev1.ContainerFilter{LabelSelector: map[string]string{kubelettypes.KubernetesPodUIDLabel: podUID}},
	})
	if err != nil {
		return nil, fmt.Errorf("listing containers: %w", err)
	}
	list := make([]Container, 0, len(answer.GetContainers()))
	for _, container := range answer.GetContainers() {
		list = append(list, fromCRI(container))
	}
	return list, nil
}

// Env implements Runtime. The environment is read from the spec that the runtime started the container
// with, which works for images without an env program and for values of several lines (KP-12, P-7).
func (c *Client) Env(ctx context.Context, id string) (map[string]string, bool, error) {
	answer, err := c.verboseStatus(ctx, id)
	if err != nil {
		return nil, false, err
	}
	env, told, err := envOfInfo(answer.GetInfo())
	if err != nil {
		return nil, false, fmt.Errorf("reading the spec of container %s: %w", id, err)
	}
	if told {
		return env, true, nil
	}
	if answer.GetStatus().GetState() != runtimev1.ContainerState_CONTAINER_RUNNING {
		return nil, false, nil
	}
	// NUL ends each entry, so that values may hold newlines.
	output, err := c.exec(ctx, id, []string{"env", "-0"}, execTimeout)
	if err != nil {
		return nil, false, err
	}
	return parseEnv(strings.Split(output, "\x00")), true, nil
}

func (c *Client) verboseStatus(ctx context.Context, id string) (*runtimev1.ContainerStatusResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	answer, err := c.runtimes.ContainerStatus(ctx, &runtimev1.ContainerStatusRequest{ContainerId: id, Verbose: true})
	if err != nil {
		return nil, fmt.Errorf("asking for the status of container %s: %w", id, err)
	}
	return answer, nil
}

// Exec implements Runtime.
func (c *Client) Exec(ctx context.Context, id string, command []string) error {
	_, err := c.exec(ctx, id, command, 0)
	return err
}

// exec runs a command in a container and returns its standard output. The timeout is in whole seconds; 0
// means none but that of the context.
func (c *Client) exec(ctx context.Context, id string, command []string, timeout time.Duration) (string, error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout+margin)
		defer cancel()
	}
	answer, err := c.runtimes.ExecSync(ctx, &runtimev1.ExecSyncRequest{
		ContainerId: id, Cmd: command, Timeout: int64(timeout.Seconds()),
	})
	if err != nil {
		return "", fmt.Errorf("executing %q in container %s: %w", command, id, err)
	}
	if code := answer.GetExitCode(); code != 0 {
		return "", fmt.Errorf("executing %q in container %s: exit code %d", command, id, code)
	}
	return string(answer.GetStdout()), nil
}

// Stop implements Runtime.
func (c *Client) Stop(ctx context.Context, id string, grace time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, grace+margin)
	defer cancel()
	_, err := c.runtimes.StopContainer(ctx, &runtimev1.StopContainerRequest{ContainerId: id, Timeout: int64(grace.Seconds())})
	if err != nil && status.Code(err) != codes.NotFound {
		return fmt.Errorf("stopping container %s: %w", id, err)
	}
	return nil
}
