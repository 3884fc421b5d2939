package ordering_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/ordering"
)

func TestPriority(t *testing.T) {
	weight := func(w int32, key, value string) appsv1beta1.UpdatePriorityWeightTerm {
		return appsv1beta1.UpdatePriorityWeightTerm{Weight: w, MatchSelector: metav1.LabelSelector{MatchLabels: map[string]string{key: value}}}
	}
	order := func(keys ...string) *appsv1beta1.UpdatePriorityStrategy {
		s := &appsv1beta1.UpdatePriorityStrategy{}
		for _, key := range keys {
			s.OrderPriority = append(s.OrderPriority, appsv1beta1.UpdatePriorityOrderTerm{OrderedKey: key})
		}
		return s
	}
	cases := map[string]struct {
		strategy *appsv1beta1.UpdatePriorityStrategy
		pods     []map[string]string // in the order wanted
	}{
		"SO-4: the higher sum of weights goes first": {
			&appsv1beta1.UpdatePriorityStrategy{WeightPriority: []appsv1beta1.UpdatePriorityWeightTerm{weight(50, "a", "1"), weight(30, "b", "1"), weight(30, "c", "1")}},
			[]map[string]string{{"b": "1", "c": "1"}, {"a": "1"}, {"c": "1"}, {}}},
		"SO-5: within a key the larger number goes first": {order("n"), []map[string]string{{"n": "sts-10"}, {"n": "sts-5"}, {"n": "5x"}}},
		"SO-5: the first key decides":                     {order("n", "m"), []map[string]string{{"n": "1", "m": "9"}, {"m": "9"}}},
		"SO-5: a number that does not fit counts as 0":    {order("n"), []map[string]string{{"n": "1"}, {"n": "99999999999999999999"}}},
		"SO-6: pods without any key go before them":       {order("n"), []map[string]string{{}, {"n": "9"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := ordering.NewPriority(tc.strategy)
			if err != nil {
				t.Fatal(err)
			}
			for i := 1; i < len(tc.pods); i++ {
				if p.Rank(tc.pods[i-1]).Compare(p.Rank(tc.pods[i])) >= 0 {
					t.Errorf("%v does not go before %v", tc.pods[i-1], tc.pods[i])
				}
			}
		})
	}
	t.Run("SO-7: without a strategy all are the same", func(t *testing.T) {
		p, err := ordering.NewPriority(nil)
		if err != nil || p.Rank(map[string]string{"a": "1"}).Compare(p.Rank(nil)) != 0 {
			t.Error("ranks differ")
		}
	})
}

// pods reads "L p p": labelled and plain pods.
func pods(notation string) (all []map[string]string, waiting []int) {
	for i, word := range strings.Fields(notation) {
		labels := map[string]string{}
		if word == "L" {
			labels["tier"] = "core"
		}
		all = append(all, labels)
		waiting = append(waiting, i)
	}
	return all, waiting
}

func TestScatter(t *testing.T) {
	terms := appsv1beta1.UpdateScatterStrategy{{Key: "tier", Value: "core"}}
	cases := map[string]struct{ pods, want string }{
		"SO-13: 3 of 10 go 1st, 6th and 10th": {"p p p p p p p L L L", "L p p p p L p p p L"},
		"SO-13: 2 of 6 go 1st and 6th":        {"p p p p L L", "L p p p p L"},
		"SO-13: 3 of 6":                       {"p p p L L L", "L p p L p L"},
		"SO-10: a single one stays":           {"p p L p", "p p L p"},
		"SO-10: a single other stays":         {"L L p L", "L L p L"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			all, waiting := pods(tc.pods)
			var got []string
			for _, i := range ordering.Scatter(terms, all, waiting) {
				if all[i]["tier"] == "core" {
					got = append(got, "L")
				} else {
					got = append(got, "p")
				}
			}
			if text := strings.Join(got, " "); text != tc.want {
				t.Errorf("got %s, want %s", text, tc.want)
			}
		})
	}
}

func TestScatterKeepsEveryPod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(t, "pods")
		var all []map[string]string
		var waiting []int
		for i := range n {
			all = append(all, map[string]string{"a": rapid.SampledFrom([]string{"1", "2"}).Draw(t, "a"), "b": rapid.SampledFrom([]string{"1", "2"}).Draw(t, "b")})
			if rapid.Bool().Draw(t, "waiting") {
				waiting = append(waiting, i)
			}
		}
		terms := appsv1beta1.UpdateScatterStrategy{{Key: "a", Value: "1"}, {Key: "b", Value: "1"}}
		got := ordering.Scatter(terms[:rapid.IntRange(0, 2).Draw(t, "terms")], all, waiting)
		if slices.Sort(got); !slices.Equal(got, waiting) {
			t.Fatalf("got %v, want %v in some order", got, waiting)
		}
	})
}
