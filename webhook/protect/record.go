package protect

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Record counts and logs refusals. It is safe for concurrent use.
type Record struct {
	refused *prometheus.CounterVec

	mu  sync.Mutex
	log io.Writer
}

// Refusal is one refused deletion.
type Refusal struct {
	Kind, Namespace, Name string
	// User is the name of the user who asked.
	User string
}

// NewRecord counts on metrics, under the reference's name (WH-122), and writes to log one line of JSON for
// each refusal (WH-123).
func NewRecord(metrics prometheus.Registerer, log io.Writer) (*Record, error) {
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "workload_deletion_protection",
		Help: "Number of refused deletions of a workload, by object and user.",
	}, []string{"kind_namespace_name", "username"})
	if err := metrics.Register(refused); err != nil {
		return nil, fmt.Errorf("registering metric: %w", err)
	}
	return &Record{refused: refused, log: log}, nil
}

// Add records a refusal. It is counted even if it cannot be logged, which is the error.
func (r *Record) Add(refusal Refusal) error {
	object := fmt.Sprintf("%s_%s_%s", refusal.Kind, refusal.Namespace, refusal.Name)
	r.refused.WithLabelValues(object, refusal.User).Inc()

	line, err := json.Marshal(struct{ Event, Kind, Namespace, Name, UserAgent string }{
		"DeletionProtection", refusal.Kind, refusal.Namespace, refusal.Name, refusal.User,
	})
	if err != nil {
		return fmt.Errorf("encoding line of protection log: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.log.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing protection log: %w", err)
	}
	return nil
}
