package crifake

import (
	"context"
	"maps"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// runtimeService answers the calls about containers.
type runtimeService struct {
	runtimev1.UnimplementedRuntimeServiceServer
	r *Runtime
}

func notFound(id string) error {
	return status.Errorf(codes.NotFound, "container %q not found", id)
}

func (s *runtimeService) Version(context.Context, *runtimev1.VersionRequest) (*runtimev1.VersionResponse, error) {
	if err := s.r.receive(Call{Method: Version}); err != nil {
		return nil, err
	}
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	return &runtimev1.VersionResponse{RuntimeName: s.r.name, RuntimeApiVersion: "v1"}, nil
}

func (s *runtimeService) ListContainers(_ context.Context, req *runtimev1.ListContainersRequest) (*runtimev1.ListContainersResponse, error) {
	if err := s.r.receive(Call{Method: ListContainers}); err != nil {
		return nil, err
	}
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	answer := &runtimev1.ListContainersResponse{}
	for _, c := range s.r.containers {
		if matches(req.GetFilter(), c) {
			answer.Containers = append(answer.Containers, &runtimev1.Container{
				Id: c.ID, Labels: maps.Clone(c.Labels), Annotations: maps.Clone(c.Annotations), CreatedAt: c.CreatedAt, State: c.State,
			})
		}
	}
	return answer, nil
}

func matches(filter *runtimev1.ContainerFilter, c Container) bool {
	if filter.GetId() != "" && filter.GetId() != c.ID {
		return false
	}
	for key, value := range filter.GetLabelSelector() {
		if c.Labels[key] != value {
			return false
		}
	}
	return true
}

func (s *runtimeService) ContainerStatus(_ context.Context, req *runtimev1.ContainerStatusRequest) (*runtimev1.ContainerStatusResponse, error) {
	if err := s.r.receive(Call{Method: ContainerStatus, Container: req.GetContainerId()}); err != nil {
		return nil, err
	}
	c, err := s.r.find(req.GetContainerId())
	if err != nil {
		return nil, err
	}
	answer := &runtimev1.ContainerStatusResponse{
		Status: &runtimev1.ContainerStatus{Id: c.ID, Labels: c.Labels, Annotations: c.Annotations, CreatedAt: c.CreatedAt, State: c.State},
	}
	if req.GetVerbose() {
		answer.Info, err = c.info()
	}
	return answer, err
}

func (s *runtimeService) ExecSync(_ context.Context, req *runtimev1.ExecSyncRequest) (*runtimev1.ExecSyncResponse, error) {
	call := Call{Method: ExecSync, Container: req.GetContainerId(), Command: req.GetCmd(), Timeout: req.GetTimeout()}
	if err := s.r.receive(call); err != nil {
		return nil, err
	}
	c, err := s.r.find(req.GetContainerId())
	if err != nil {
		return nil, err
	}
	if c.State != runtimev1.ContainerState_CONTAINER_RUNNING {
		return nil, status.Errorf(codes.FailedPrecondition, "container %q is not running", c.ID)
	}
	if c.Exec == nil {
		return nil, status.Errorf(codes.Unknown, "executable %q not found", req.GetCmd()[0])
	}
	stdout, code := c.Exec(req.GetCmd())
	return &runtimev1.ExecSyncResponse{Stdout: []byte(stdout), ExitCode: code}, nil
}

// StopContainer ends a container at once, whatever its grace period; one that has ended stays ended.
func (s *runtimeService) StopContainer(_ context.Context, req *runtimev1.StopContainerRequest) (*runtimev1.StopContainerResponse, error) {
	if err := s.r.receive(Call{Method: StopContainer, Container: req.GetContainerId(), Timeout: req.GetTimeout()}); err != nil {
		return nil, err
	}
	c, err := s.r.find(req.GetContainerId())
	if err != nil {
		return nil, err
	}
	c.State = runtimev1.ContainerState_CONTAINER_EXITED
	s.r.Run(c)
	return &runtimev1.StopContainerResponse{}, nil
}
