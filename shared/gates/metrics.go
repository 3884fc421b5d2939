package gates

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// Collector exposes every gate as kubernetes_feature_enabled{name,stage}, 1 for on, 0 for off (DEP-191).
func (s Set) Collector() prometheus.Collector {
	return collector{
		set: s,
		desc: prometheus.NewDesc("kubernetes_feature_enabled",
			"Stage of a feature gate, and whether it is on.", []string{"name", "stage"}, nil),
	}
}

type collector struct {
	set  Set
	desc *prometheus.Desc
}

func (c collector) Describe(descs chan<- *prometheus.Desc) {
	descs <- c.desc
}

func (c collector) Collect(metrics chan<- prometheus.Metric) {
	specs := table()
	for _, gate := range slices.Sorted(maps.Keys(specs)) {
		value := 0.0
		if c.set.Enabled(gate) {
			value = 1
		}
		metrics <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, value, string(gate), string(specs[gate].PreRelease))
	}
}
