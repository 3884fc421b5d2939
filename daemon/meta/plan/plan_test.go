package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/flotilla-k8s/flotilla/daemon/cri"
	"github.com/flotilla-k8s/flotilla/daemon/meta/plan"
)

// theContainers are those of aPod in the runtime.
func theContainers() []cri.Container {
	return []cri.Container{
		{ID: "s1", Name: "side", CreatedAt: 2, Running: true, PlainHash: 12, RestartCount: 2},
		{ID: "m1", Name: "main", CreatedAt: 1, Running: true, PlainHash: 11},
	}
}

func TestCompute(t *testing.T) {
	withoutEnv := strings.NewReplacer(
		`,"extractedEnvFromMetadataHash":3702850206`, "", `,"extractedEnvFromMetadataHash":86995377`, "").Replace(upToDate)
	cases := []struct {
		name   string
		pod    *corev1.Pod
		change func(*plan.World)
		want   string // empty: nothing is written
	}{
		{
			name: "M-1, IP-80: everything is reported in the order of the statuses",
			pod:  aPod(), want: upToDate,
		},
		{
			name: "M-20, E-22: the same again is not written",
			pod:  aPod(reported(upToDate)),
		},
		{
			name: "M-20: the same in another notation is not written",
			pod:  aPod(reported(strings.ReplaceAll(upToDate, ",", " , "))),
		},
		{
			name: "an annotation that cannot be decoded is replaced",
			pod:  aPod(reported("{")), want: upToDate,
		},
		{
			name:   "M-6: without the gate there is no env hash",
			pod:    aPod(),
			change: func(w *plan.World) { w.WithEnv = false; w.EnvHashes = nil },
			want:   withoutEnv,
		},
		{
			name:   "M-6, M-13: an env hash that could not be read is left out, the rest is reported",
			pod:    aPod(),
			change: func(w *plan.World) { w.EnvHashes = nil },
			want:   strings.Replace(upToDate, `,"extractedEnvFromMetadataHash":3702850206`, "", 1),
		},
		{
			name: "M-7: a missing env hash is filled in",
			pod:  aPod(reported(strings.Replace(upToDate, `,"extractedEnvFromMetadataHash":3702850206`, "", 1))),
			want: upToDate,
		},
		{
			name: "M-7: an entry of the same container stays as it is",
			pod:  aPod(reported(strings.NewReplacer(`"plainHash":11`, `"plainHash":99`, `"restartCount":2`, `"restartCount":7`).Replace(upToDate))),
		},
		{
			name: "IP-84, M-3: a new container brings its own hashes; the newest one of a name counts",
			pod:  aPod(reported(upToDate)),
			change: func(w *plan.World) {
				w.Containers = append(w.Containers, cri.Container{ID: "m2", Name: "main", CreatedAt: 9, PlainHash: 21, RestartCount: 1})
				w.EnvHashes = map[string]uint64{"m2": 5}
			},
			want: strings.Replace(upToDate, `"containerID":"containerd://m1","restartCount":0,"hashes":{"plainHash":11,"extractedEnvFromMetadataHash":3702850206}`,
				`"containerID":"containerd://m2","restartCount":1,"hashes":{"plainHash":21,"extractedEnvFromMetadataHash":5}`, 1),
		},
		{
			name:   "M-2: a container that the runtime does not know is left out",
			pod:    aPod(),
			change: func(w *plan.World) { w.Containers = w.Containers[:1] },
			want:   `{"containers":[{"name":"side","containerID":"containerd://s1","restartCount":2,"hashes":{"plainHash":12,"extractedEnvFromMetadataHash":86995377}}]}`,
		},
		{
			name: "M-2: init and ephemeral containers, and those not in the spec, are left out",
			pod: aPod(func(pod *corev1.Pod) {
				pod.Spec.InitContainers = []corev1.Container{{Name: "init"}}
				pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init", ContainerID: "containerd://i"}}
				pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: "odd", ContainerID: "containerd://o"})
			}),
			change: func(w *plan.World) {
				w.Containers = append(w.Containers, cri.Container{ID: "i", Name: "init"}, cri.Container{ID: "o", Name: "odd"}, cri.Container{ID: "d", Name: "debug"})
			},
			want: upToDate,
		},
		{
			name:   "a pod none of whose containers the runtime knows any more keeps what was reported",
			pod:    aPod(reported(upToDate)),
			change: func(w *plan.World) { w.Containers = nil },
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			world := plan.World{
				Pod: tc.pod, Runtime: "containerd", Containers: theContainers(), WithEnv: true,
				EnvHashes: map[string]uint64{"m1": oneHash},
			}
			if tc.change != nil {
				tc.change(&world)
			}
			got, err := plan.Compute(world)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plan.Outcome{Value: tc.want, Write: tc.want != ""}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEnvToRead(t *testing.T) {
	cases := []struct {
		name   string
		pod    *corev1.Pod
		change func(*plan.World)
		want   []string
	}{
		{name: "M-12: only containers that read metadata", pod: aPod(), want: []string{"m1"}},
		{name: "M-13: once per container ID", pod: aPod(reported(upToDate))},
		{
			name: "M-13: again for a new ID", pod: aPod(reported(upToDate)), want: []string{"m2"},
			change: func(w *plan.World) {
				w.Containers = append(w.Containers, cri.Container{ID: "m2", Name: "main", CreatedAt: 9})
			},
		},
		{
			name: "M-7: again while it is missing", want: []string{"m1"},
			pod: aPod(reported(strings.Replace(upToDate, `,"extractedEnvFromMetadataHash":3702850206`, "", 1))),
		},
		{name: "again if the annotation cannot be decoded", pod: aPod(reported("{")), want: []string{"m1"}},
		{name: "M-6: not without the gate", pod: aPod(), change: func(w *plan.World) { w.WithEnv = false }},
		{
			name: "M-10: excluded names and other sources do not count",
			pod: aPod(func(pod *corev1.Pod) {
				pod.Spec.Containers[0].Env = []corev1.EnvVar{
					fromField("SIDECARSET_VERSION", "metadata.labels['l']"), fromField("SIDECARSET_VERSION_ALT", "metadata.labels['l']"),
					fromField("NODE", "spec.nodeName"), {Name: "X", Value: "1"},
				}
			}),
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			world := plan.World{Pod: tc.pod, Runtime: "containerd", Containers: theContainers(), WithEnv: true}
			if tc.change != nil {
				tc.change(&world)
			}
			var got []string
			for _, unread := range plan.EnvToRead(world) {
				got = append(got, unread.ID)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEnvHash(t *testing.T) {
	cases := []struct {
		name string
		env  []corev1.EnvVar
		have map[string]string
		want uint64
	}{
		{name: "M-11: no such env is the hash of null", want: 86995377},
		{name: "M-11: one value", env: []corev1.EnvVar{fromField("A", "metadata.labels['a']")}, have: map[string]string{"A": "x", "B": "y"}, want: 496662434},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got, err := plan.EnvHash(&corev1.Container{Name: "c", Env: tc.env}, tc.have)
			if err != nil || got != tc.want {
				t.Errorf("got %d, %v; want %d", got, err, tc.want)
			}
		})
	}
	t.Run("M-12: a missing name is an empty value", func(t *testing.T) {
		container := &corev1.Container{Name: "c", Env: []corev1.EnvVar{fromField("A", "metadata.labels['a']")}}
		missing, err := plan.EnvHash(container, nil)
		empty, err2 := plan.EnvHash(container, map[string]string{"A": ""})
		if err != nil || err2 != nil || missing != empty {
			t.Errorf("got %d and %d", missing, empty)
		}
	})
}
