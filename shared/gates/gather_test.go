package gates_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// gather returns the exposed value of each series, keyed by "name/stage".
func gather(t *testing.T, collector prometheus.Collector) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collector)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string]float64)
	for _, metric := range families[0].GetMetric() {
		labels := make(map[string]string)
		for _, pair := range metric.GetLabel() {
			labels[pair.GetName()] = pair.GetValue()
		}
		values[labels["name"]+"/"+labels["stage"]] = metric.GetGauge().GetValue()
	}
	return values
}
