package rollout_test

import (
	"math"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/flotilla-k8s/flotilla/shared/rollout"
)

// limit reads a test's notation: "" is absent, digits are an int, "'5'" is the string 5.
func limit(text string) *intstr.IntOrString {
	if text == "" {
		return nil
	}
	if quoted, ok := strings.CutPrefix(text, "'"); ok {
		return new(intstr.FromString(strings.TrimSuffix(quoted, "'")))
	}
	return new(intstr.Parse(text))
}

func TestPartition(t *testing.T) {
	for _, c := range []struct {
		name     string
		value    string
		replicas int
		want     int
	}{
		{"CS-62: absent is 0", "", 5, 0},
		{"CS-62: an int is itself", "3", 5, 3},
		{"CS-62: an int is clamped to replicas", "7", 5, 5},
		{"CS-62: an int equal to replicas is kept", "4", 4, 4},
		{"CS-62: a negative int counts as 0", "-1", 5, 0},
		{"CS-62: 99% of 4 leaves one to update", "99%", 4, 3},
		{"CS-62: 50% of 4", "50%", 4, 2},
		{"CS-62: 1% is rounded up", "1%", 4, 1},
		{"CS-62: 100% keeps all", "100%", 4, 4},
		{"CS-62: 99% of 1 keeps the one", "99%", 1, 1},
		{"CS-62: 0% keeps none", "0%", 4, 0},
		{"CS-62: above 100% is clamped", "150%", 4, 4},
		{"CS-62: no replicas, no partition", "99%", 0, 0},
		{"CS-62: an unreadable value is 0", "'half'", 4, 0},
		{"CS-35: decimals are allowed", "33.3%", 6, 2},
		{"C-30: no rounding error of floating point", "0.1%", 1000, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := rollout.Partition(limit(c.value), c.replicas); got != c.want {
				t.Errorf("Partition(%s, %d) = %d, want %d", c.value, c.replicas, got, c.want)
			}
		})
	}
}

func TestMaxSurge(t *testing.T) {
	for _, c := range []struct {
		name     string
		value    string
		replicas int
		want     int
	}{
		{"CS-63: absent is 0", "", 5, 0},
		{"CS-63: an int is itself, also above replicas", "9", 5, 9},
		{"CS-63: a percentage is rounded up", "10%", 5, 1},
		{"CS-63: above 100%", "200%", 3, 6},
		{"C-30: decimals count", "33.3%", 6, 2},
		{"CS-63: what cannot be read is 0", "'5'", 6, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := rollout.MaxSurge(limit(c.value), c.replicas); got != c.want {
				t.Errorf("MaxSurge(%s, %d) = %d, want %d", c.value, c.replicas, got, c.want)
			}
		})
	}
}

func TestMaxUnavailable(t *testing.T) {
	for _, c := range []struct {
		name     string
		value    string
		replicas int
		up       bool
		want     int
	}{
		{"CS-64: default 20% rounded up", "", 4, true, 1},
		{"CS-64: default 20% rounded down", "", 4, false, 0},
		{"CS-64: default 20% of 10", "", 10, false, 2},
		{"CS-64: an int is itself", "3", 5, false, 3},
		{"CS-64: a percentage rounded up", "25%", 5, true, 2},
		{"CS-64: a percentage rounded down", "25%", 5, false, 1},
		{"C-30: 33.3% of 6 rounded up is 2", "33.3%", 6, true, 2},
		{"C-30: 33.3% of 6 rounded down is 1", "33.3%", 6, false, 1},
		{"C-30: 33.33% of 10000 is exact both ways", "33.33%", 10000, true, 3333},
		{"CS-64: what cannot be read holds the rollout", "'5'", 5, true, 0},
		{"CS-64: a negative int counts as 0", "-3", 5, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := rollout.MaxUnavailable(limit(c.value), c.replicas, c.up); got != c.want {
				t.Errorf("MaxUnavailable(%s, %d, %v) = %d, want %d", c.value, c.replicas, c.up, got, c.want)
			}
		})
	}
}

func TestScaleMaxUnavailable(t *testing.T) {
	for _, c := range []struct {
		name     string
		value    string
		replicas int
		want     int
	}{
		{"CS-65: absent is unlimited", "", 5, math.MaxInt32},
		{"CS-65: an int is itself", "0", 5, 0},
		{"CS-65: a percentage is rounded up", "30%", 5, 2},
		{"CS-65: what cannot be read stops creation", "'5'", 5, 0},
		{"CS-65: a percentage beyond all pods is capped", "99999999999999999999%", 1000, math.MaxInt32},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := rollout.ScaleMaxUnavailable(limit(c.value), c.replicas); got != c.want {
				t.Errorf("ScaleMaxUnavailable(%s, %d) = %d, want %d", c.value, c.replicas, got, c.want)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name    string
		value   string
		wantErr string
	}{
		{"CS-35: zero", "0", ""},
		{"CS-35: a percentage", "25%", ""},
		{"CS-35: decimals", "33.3%", ""},
		{"CS-36: above 100%", "150%", ""},
		{"CS-35: a negative int", "-1", "must not be negative"},
		{"CS-36: a string without percent sign", "'5'", "must be an integer or a percentage"},
		{"C-13: an empty string", "''", "must be an integer or a percentage"},
		{"C-13: a sign", "-5%", "must be an integer or a percentage"},
		{"C-13: a bare percent sign", "'%'", "must be an integer or a percentage"},
		{"C-13: no digit after the point", "'5.%'", "must be an integer or a percentage"},
		{"C-13: no digit before the point", "'.5%'", "must be an integer or a percentage"},
		{"C-13: two points", "1.2.3%", "must be an integer or a percentage"},
		{"C-13: a space", "5 %", "must be an integer or a percentage"},
		{"C-13: other scripts' digits", "٣%", "must be an integer or a percentage"},
		{"C-13: a very long text", strings.Repeat("9", 100) + "%", "at most 32 characters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := rollout.Validate(*limit(c.value))
			if c.wantErr == "" && err != nil || c.wantErr != "" && (err == nil || !strings.Contains(err.Error(), c.wantErr)) {
				t.Errorf("Validate(%s) = %v, want %q", c.value, err, c.wantErr)
			}
		})
	}
}
