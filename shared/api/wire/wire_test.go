package wire_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

func TestInPlaceStateOnTheWire(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC))
	state := &wire.InPlaceState{
		Revision: "web-7d5c", UpdateTimestamp: at, UpdateEnvFromMetadata: true, UpdateImages: true,
		NextContainerImages:    map[string]string{"main": "main:v2"},
		PreCheckBeforeNext:     &wire.InPlacePreCheck{ContainersRequiredReady: []string{"sidecar"}},
		ContainerBatchesRecord: []wire.InPlaceBatch{{Timestamp: at, Containers: []string{"sidecar"}}},
	}
	const want = `{"revision":"web-7d5c","updateTimestamp":"2026-03-01T10:00:00Z","lastContainerStatuses":null,"updateEnvFromMetadata":true,` +
		`"updateImages":true,"nextContainerImages":{"main":"main:v2"},` +
		`"preCheckBeforeNext":{"containersRequiredReady":["sidecar"]},` +
		`"containerBatchesRecord":[{"timestamp":"2026-03-01T10:00:00Z","containers":["sidecar"]}]}`

	t.Run("IP-61: the example of the specification", func(t *testing.T) {
		got, err := state.Format()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	for _, key := range []string{"apps.kruise.io/inplace-update-state", "inplace-update-state"} {
		t.Run("1.1: read from "+key, func(t *testing.T) {
			got, err := wire.GetInPlaceState(&metav1.ObjectMeta{Annotations: map[string]string{key: want}})
			if err != nil {
				t.Fatal(err)
			}
			if !got.UpdateTimestamp.Equal(&at) || got.NextContainerImages["main"] != "main:v2" {
				t.Errorf("got %+v", got)
			}
		})
	}
	t.Run("IP-72: an undecodable state is an error", func(t *testing.T) {
		_, err := wire.GetInPlaceState(&metav1.ObjectMeta{Annotations: map[string]string{wire.AnnotationInPlaceState: "{"}})
		if err == nil {
			t.Error("want an error")
		}
	})
}

func TestReadinessKeysOnTheWire(t *testing.T) {
	got := wire.FormatReadinessKeys([]wire.ReadinessKey{wire.ReadinessKeyPreUpdate, wire.ReadinessKeyPreDelete})
	const want = `[{"userAgent":"Lifecycle","key":"preDeleteHook"},{"userAgent":"Lifecycle","key":"preUpdateHook"}]`
	if got != want {
		t.Errorf("IP-92: got %s, want %s", got, want)
	}
	if got := wire.FormatReadinessKeys(nil); got != "[]" {
		t.Errorf("IP-94: got %s, want []", got)
	}
	keys, err := wire.ParseReadinessKeys(want)
	if err != nil || len(keys) != 2 {
		t.Errorf("got %v, %v", keys, err)
	}
}

func TestRuntimeContainersMetaOnTheWire(t *testing.T) {
	meta := &wire.RuntimeContainersMeta{Containers: []wire.RuntimeContainerMeta{
		{Name: "main", ContainerID: "containerd://abc", RestartCount: 1, Hashes: wire.RuntimeContainerHashes{PlainHash: 7}}}}
	const want = `{"containers":[{"name":"main","containerID":"containerd://abc","restartCount":1,"hashes":{"plainHash":7}}]}`
	got, err := meta.Format()
	if err != nil || got != want {
		t.Errorf("IP-80: got %s (%v), want %s", got, err, want)
	}
	if meta.Container("main") == nil || meta.Container("other") != nil {
		t.Error("Container finds by name")
	}
}
