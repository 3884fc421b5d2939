package gates

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/component-base/featuregate"
)

// Flag is the --feature-gates flag of one component.
type Flag struct {
	registry featuregate.MutableVersionedFeatureGate
}

// NewFlag returns a flag that knows every gate, all at their defaults.
func NewFlag() *Flag {
	specs := make(map[Gate]featuregate.FeatureSpec)
	for gate, s := range table() {
		specs[gate] = s.FeatureSpec
	}
	registry := featuregate.NewFeatureGate()
	if err := registry.Add(specs); err != nil {
		panic(fmt.Sprintf("registering feature gates: %v", err)) // impossible: the table is a constant
	}
	return &Flag{registry: registry}
}

// Bind adds --feature-gates to a flag set. A name that is no gate of the reference is an error of
// parsing, so the process does not start (DEP-133).
func (f *Flag) Bind(fs *pflag.FlagSet) {
	f.registry.AddFlag(fs)
}

// Parse takes a string in the form of the flag: "A=true,B=false".
func (f *Flag) Parse(value string) error {
	if err := f.registry.Set(value); err != nil {
		return fmt.Errorf("parsing feature gates %q: %w", value, err)
	}
	return nil
}

// Set returns the gates as stated so far, with the forced ones applied (DEP-171 to DEP-173).
func (f *Flag) Set() Set {
	values := make(map[Gate]bool)
	var unread []Gate
	for gate, s := range table() {
		byName := f.registry.ExplicitlySet(gate)
		if s.onlyByName && !byName {
			values[gate] = s.Default
		} else {
			values[gate] = f.registry.Enabled(gate)
		}
		if byName && s.unread {
			unread = append(unread, gate)
		}
	}
	forced := force(values)
	for _, change := range forced {
		values[change.Gate] = change.On
	}
	slices.Sort(unread)
	return Set{values: values, forced: forced, unread: unread}
}

// Default returns every gate at its default.
func Default() Set {
	return NewFlag().Set()
}

// Parse returns the set that the flag value describes.
func Parse(value string) (Set, error) {
	flag := NewFlag()
	if err := flag.Parse(value); err != nil {
		return Set{}, err
	}
	return flag.Set(), nil
}
