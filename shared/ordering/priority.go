// Package ordering knows in which order the pods of a workload are updated, as far as the user has a
// say in it (section 14 of the in-place engine).
package ordering

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
)

// Rank is the place of a pod by a priorityStrategy. The zero value is that of every pod without one.
type Rank struct {
	Weight int64 // higher goes first
	Level  int   // position of the deciding term, lower goes first; -1 without any of the keys
	Number int64 // number at the end of the label's value, higher goes first
}

// Compare orders ranks, the one to go first being the smaller.
func (r Rank) Compare(other Rank) int {
	return cmp.Or(
		cmp.Compare(other.Weight, r.Weight),
		cmp.Compare(r.Level, other.Level),
		cmp.Compare(other.Number, r.Number),
	)
}

// Priority ranks pods by their labels.
type Priority struct {
	weights []weighted
	keys    []string
}

type weighted struct {
	weight   int64
	selector labels.Selector
}

// NewPriority reads a strategy; nil ranks all pods the same. A selector that cannot be read is an error;
// admission refuses it.
func NewPriority(strategy *appsv1beta1.UpdatePriorityStrategy) (Priority, error) {
	var p Priority
	if strategy == nil {
		return p, nil
	}
	for i, term := range strategy.WeightPriority {
		selector, err := metav1.LabelSelectorAsSelector(&term.MatchSelector)
		if err != nil {
			return Priority{}, fmt.Errorf("reading priorityStrategy.weightPriority[%d].matchSelector: %w", i, err)
		}
		p.weights = append(p.weights, weighted{int64(term.Weight), selector})
	}
	for _, term := range strategy.OrderPriority {
		p.keys = append(p.keys, term.OrderedKey)
	}
	return p, nil
}

// Rank places a pod by its labels: the sum of the weights of all terms that match (SO-4), or else the
// first ordered key it has and the number in its value (SO-5). A pod without any of the keys goes before
// those that have one; that is wire (SO-6).
func (p Priority) Rank(podLabels map[string]string) Rank {
	var r Rank
	for _, w := range p.weights {
		if w.selector.Matches(labels.Set(podLabels)) {
			r.Weight += w.weight
		}
	}
	if len(p.keys) == 0 {
		return r
	}
	r.Level = -1
	for i, key := range p.keys {
		if value, found := podLabels[key]; found {
			r.Level, r.Number = i, trailingNumber(value)
			break
		}
	}
	return r
}

// trailingNumber reads the decimal digits at the end of a value; 0 without any, or if they do not fit.
func trailingNumber(value string) int64 {
	digits := value[len(strings.TrimRight(value, "0123456789")):]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > math.MaxInt32 {
		return 0
	}
	return n
}
