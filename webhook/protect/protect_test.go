package protect_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/webhook/protect"
)

func TestWorkloadRefusal(t *testing.T) {
	const always = "forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection=Always"
	for _, c := range []struct {
		name     string
		value    string
		replicas int
		deleting bool
		want     string
	}{
		{name: "WH-118: no label", replicas: 3},
		{name: "WH-118: another value", value: "always", replicas: 3},
		{name: "WH-118, WH-121: Always", value: "Always", want: always},
		{name: "WH-118: Always, with replicas", value: "Always", replicas: 3, want: always},
		{name: "WH-120: Cascading, nothing alive", value: "Cascading"},
		{name: "WH-120, WH-121: Cascading", value: "Cascading", replicas: 3,
			want: "forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection=Cascading and replicas 3>0"},
		{name: "WH-119: being deleted", value: "Always", replicas: 3, deleting: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			object := &metav1.ObjectMeta{}
			if c.value != "" {
				object.Labels = map[string]string{wire.LabelDeleteProtection: c.value}
			}
			if c.deleting {
				object.DeletionTimestamp = new(metav1.Unix(1, 0))
			}
			if got := protect.WorkloadRefusal(object, c.replicas); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// full is a log on a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestRecord(t *testing.T) {
	refusal := protect.Refusal{Kind: "CloneSet", Namespace: "ns", Name: "shop", User: "jane"}

	t.Run("WH-122, WH-123: counted and logged, a line for each", func(t *testing.T) {
		registry, log := prometheus.NewRegistry(), &bytes.Buffer{}
		record, err := protect.NewRecord(registry, log)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := record.Add(refusal); err != nil {
				t.Fatal(err)
			}
		}
		const line = `{"Event":"DeletionProtection","Kind":"CloneSet","Namespace":"ns","Name":"shop","UserAgent":"jane"}` + "\n"
		if got := log.String(); got != line+line {
			t.Errorf("log holds %q", got)
		}
		if got := count(t, registry); got != 2 {
			t.Errorf("counted %v", got)
		}
	})

	t.Run("WH-122: counted even if it cannot be logged", func(t *testing.T) {
		registry := prometheus.NewRegistry()
		record, err := protect.NewRecord(registry, full{})
		if err != nil {
			t.Fatal(err)
		}
		if err := record.Add(refusal); err == nil {
			t.Error("a line that is lost is no error")
		}
		if got := count(t, registry); got != 1 {
			t.Errorf("counted %v", got)
		}
	})
}

// count returns the refusals counted for the object and user of these tests, the only ones there are.
func count(t *testing.T, registry *prometheus.Registry) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if len(families) != 1 || families[0].GetName() != "workload_deletion_protection" || len(families[0].GetMetric()) != 1 {
		t.Fatalf("WH-122: metrics are %v", families)
	}
	metric := families[0].GetMetric()[0]
	want := map[string]string{"kind_namespace_name": "CloneSet_ns_shop", "username": "jane"}
	if diff := cmp.Diff(want, labels(metric)); diff != "" {
		t.Errorf("WH-122: labels:\n%s", diff)
	}
	return metric.GetCounter().GetValue()
}

func labels(metric *dto.Metric) map[string]string {
	all := map[string]string{}
	for _, label := range metric.GetLabel() {
		all[label.GetName()] = label.GetValue()
	}
	return all
}
