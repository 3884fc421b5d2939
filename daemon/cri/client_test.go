package cri_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	kubelettypes "k8s.io/kubelet/pkg/types"

	"github.com/flotilla-k8s/flotilla/daemon/cri"
	"github.com/flotilla-k8s/flotilla/daemon/cri/crifake"
)

const running = runtimev1.ContainerState_CONTAINER_RUNNING

func dial(t *testing.T, fake *crifake.Runtime) *cri.Client {
	t.Helper()
	client, err := cri.Dial(t.Context(), fake.Socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}

func TestDial(t *testing.T) {
	cases := []struct {
		name  string
		fail  crifake.Method
		wants string
	}{
		{name: "R-5: a runtime that answers everything is accepted, under its own name (R-6)"},
		{name: "R-5: refused without ImageFsInfo", fail: crifake.ImageFsInfo, wants: "asking for the image file system"},
		{name: "R-5: refused without ListImages", fail: crifake.ListImages, wants: "listing images"},
		{name: "R-5: refused without Version", fail: crifake.Version, wants: "asking for the version"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			fake := crifake.Start(t, "containerd", filepath.Join(crifake.SocketDir(t), "s"))
			if tc.fail == "" {
				if got := dial(t, fake).Name(); got != "containerd" {
					t.Errorf("got name %q", got)
				}
				return
			}
			fake.Fail(tc.fail, status.Error(codes.Unavailable, "still starting"))
			_, err := cri.Dial(t.Context(), fake.Socket)
			if err == nil || !strings.Contains(err.Error(), tc.wants) || !strings.Contains(err.Error(), "still starting") {
				t.Errorf("got %v, want an error about %q", err, tc.wants)
			}
		})
	}
}

func TestDialNobody(t *testing.T) {
	_, err := cri.Dial(t.Context(), filepath.Join(crifake.SocketDir(t), "none"))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want not found", err)
	}
}

func TestContainers(t *testing.T) {
	fake := crifake.Start(t, "containerd", filepath.Join(crifake.SocketDir(t), "s"))
	labels := func(uid, name string) map[string]string {
		return map[string]string{kubelettypes.KubernetesPodUIDLabel: uid, kubelettypes.KubernetesContainerNameLabel: name}
	}
	fake.Run(
		crifake.Container{
			ID: "1", Labels: labels("uid", "main"), CreatedAt: 5, State: running,
			Annotations: map[string]string{"io.kubernetes.container.hash": "a1c5a533", "io.kubernetes.container.restartCount": "3"},
		},
		crifake.Container{ID: "2", Labels: labels("uid", "bare"), State: runtimev1.ContainerState_CONTAINER_EXITED},
		crifake.Container{
			ID: "3", Labels: labels("uid", "odd"),
			Annotations: map[string]string{"io.kubernetes.container.hash": "xyz", "io.kubernetes.container.restartCount": "many"},
		},
		crifake.Container{ID: "4", Labels: labels("other", "main"), State: running},
	)
	got, err := dial(t, fake).Containers(t.Context(), "uid")
	if err != nil {
		t.Fatal(err)
	}
	want := []cri.Container{
		{ID: "1", Name: "main", CreatedAt: 5, Running: true, PlainHash: 2714084659, RestartCount: 3}, // M-4, M-5: hexadecimal
		{ID: "2", Name: "bare"}, // M-4, M-5: absent is 0
		{ID: "3", Name: "odd"},  // unreadable is 0
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEnv(t *testing.T) {
	multiline := "first\nB=not a name\n  last  "
	execEnv := func(stdout string, code int32) func([]string) (string, int32) {
		return func(command []string) (string, int32) {
			if cmp.Equal(command, []string{"env", "-0"}) {
				return stdout, code
			}
			return "", 127
		}
	}
	cases := []struct {
		name      string
		container crifake.Container
		want      map[string]string
		unknown   bool
		wantErr   string
		wantExecs int
	}{
		{
			name:      "P-7, KP-12: read from the OCI spec without a program in the container, values as they are",
			container: crifake.Container{Env: []string{"A=1", "B=x=y", "C=" + multiline, "D=", "PATH", "A=2"}},
			want:      map[string]string{"A": "2", "B": "x=y", "C": multiline, "D": ""},
		},
		{
			name:      "read from the OCI spec of a container that has ended, too",
			container: crifake.Container{State: runtimev1.ContainerState_CONTAINER_EXITED, Env: []string{"A=1"}},
			want:      map[string]string{"A": "1"},
		},
		{
			name:      "IP-85: no command in a container that does not run",
			container: crifake.Container{State: runtimev1.ContainerState_CONTAINER_EXITED, Exec: execEnv("A=1\x00", 0)},
			unknown:   true,
		},
		{
			name:      "an empty environment is known",
			container: crifake.Container{Env: []string{}},
			want:      map[string]string{},
		},
		{
			name:      "KP-12: falls back to a command, values as they are",
			container: crifake.Container{State: running, Exec: execEnv("A=1\x00C="+multiline+"\x00D=\x00", 0)},
			want:      map[string]string{"A": "1", "C": multiline, "D": ""},
			wantExecs: 1,
		},
		{
			name:      "IP-85: a command that cannot run is an error",
			container: crifake.Container{State: running},
			unknown:   true,
			wantErr:   `executing ["env" "-0"]`,
			wantExecs: 1,
		},
		{
			name:      "IP-85: a command that fails is an error, not an empty environment",
			container: crifake.Container{State: running, Exec: execEnv("", 1)},
			unknown:   true,
			wantErr:   "exit code 1",
			wantExecs: 1,
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			fake := crifake.Start(t, "containerd", filepath.Join(crifake.SocketDir(t), "s"))
			tc.container.ID = "c"
			fake.Run(tc.container)
			got, known, err := dial(t, fake).Env(t.Context(), "c")
			if known == tc.unknown {
				t.Errorf("known: %t", known)
			}
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("got %v, want an error about %q", err, tc.wantErr)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			execs := fake.Calls(crifake.ExecSync)
			if len(execs) != tc.wantExecs {
				t.Errorf("got %d commands, want %d", len(execs), tc.wantExecs)
			}
			for _, call := range execs {
				if call.Timeout != 3 {
					t.Errorf("IP-85: got a timeout of %d s, want 3", call.Timeout)
				}
			}
		})
	}
}

func TestEnvOfNoContainer(t *testing.T) {
	fake := crifake.Start(t, "containerd", filepath.Join(crifake.SocketDir(t), "s"))
	if _, _, err := dial(t, fake).Env(t.Context(), "gone"); status.Code(errors.Unwrap(err)) != codes.NotFound {
		t.Errorf("got %v, want not found", err)
	}
}

func TestStop(t *testing.T) {
	fake := crifake.Start(t, "containerd", filepath.Join(crifake.SocketDir(t), "s"))
	fake.Run(crifake.Container{ID: "c", State: running})
	client := dial(t, fake)
	for _, id := range []string{"c", "c", "gone"} {
		if err := client.Stop(t.Context(), id, 7*time.Second); err != nil {
			t.Errorf("stopping %s: %v", id, err)
		}
	}
	if calls := fake.Calls(crifake.StopContainer); len(calls) != 3 || calls[0].Timeout != 7 {
		t.Errorf("asked %+v", calls)
	}
	fake.Fail(crifake.StopContainer, status.Error(codes.Internal, "will not"))
	if err := client.Stop(t.Context(), "c", time.Second); err == nil || !strings.Contains(err.Error(), "will not") {
		t.Errorf("got %v", err)
	}
}

func TestExec(t *testing.T) {
	fake := crifake.Start(t, "containerd", filepath.Join(crifake.SocketDir(t), "s"))
	fake.Run(crifake.Container{ID: "c", State: running, Exec: func(command []string) (string, int32) {
		if command[0] == "false" {
			return "", 1
		}
		return "", 0
	}})
	client := dial(t, fake)
	if err := client.Exec(t.Context(), "c", []string{"true"}); err != nil {
		t.Error(err)
	}
	if err := client.Exec(t.Context(), "c", []string{"false"}); err == nil || !strings.Contains(err.Error(), "exit code 1") {
		t.Errorf("got %v", err)
	}
	if calls := fake.Calls(crifake.ExecSync); len(calls) != 2 || calls[0].Timeout != 0 {
		t.Errorf("X-51: a hook has no timeout of its own, asked %+v", calls)
	}
}
