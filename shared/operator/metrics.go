package operator

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// registerMetrics adds what every operator exposes: whether it leads (DEP-187) and its gates (DEP-191).
func registerMetrics(registry prometheus.Registerer, op *Operator) error {
	leader := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "kruise_manager_is_leader",
		Help: "1 in the replica that runs the controllers, else 0.",
	}, func() float64 {
		if op.Leading() {
			return 1
		}
		return 0
	})
	for _, collector := range []prometheus.Collector{leader, op.opts.Gates.Collector()} {
		if err := registry.Register(collector); err != nil {
			return fmt.Errorf("registering metrics: %w", err)
		}
	}
	return nil
}
