package gates

import (
	"maps"
	"slices"

	"github.com/go-logr/logr"
)

// Set is the state of every gate of one component. It does not change after start. The zero value has
// every gate at its default.
type Set struct {
	values map[Gate]bool
	forced []Forced
	unread []Gate
}

// Enabled reports whether the gate is on. A name that is no gate is off.
func (s Set) Enabled(gate Gate) bool {
	if s.values == nil {
		return table()[gate].Default
	}
	return s.values[gate]
}

// AllEnabled reports whether every one of the gates is on; true for none.
func (s Set) AllEnabled(gates ...Gate) bool {
	return !slices.ContainsFunc(gates, func(gate Gate) bool { return !s.Enabled(gate) })
}

// With returns a copy in which one gate has the given value and nothing else follows from it. It is
// meant for tests of what reads the gate.
func (s Set) With(gate Gate, on bool) Set {
	if s.values == nil {
		s = Default()
	}
	s.values = maps.Clone(s.values)
	s.values[gate] = on
	return s
}

// Forced lists the gates whose value follows from another gate, in the order of DEP-171 to DEP-173.
func (s Set) Forced() []Forced {
	return slices.Clone(s.forced)
}

// Unread lists the gates that were set by name although no component reads them yet.
func (s Set) Unread() []Gate {
	return slices.Clone(s.unread)
}

// Log writes one line for each forced gate (DEP-174) and for each gate that has no effect.
func (s Set) Log(log logr.Logger) {
	for _, f := range s.forced {
		log.Info("Feature gate follows from another", "gate", f.Gate, "on", f.On, "because", f.Because)
	}
	for _, gate := range s.unread {
		log.Info("Feature gate has no effect yet", "gate", gate)
	}
}
