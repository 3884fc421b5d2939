package rollout_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"github.com/flotilla-k8s/flotilla/shared/rollout"
)

func TestRoundingProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		replicas := rapid.IntRange(0, 5000).Draw(t, "replicas")
		hundredths := rapid.IntRange(0, 20000).Draw(t, "hundredths")
		v := new(intstr.FromString(fmt.Sprintf("%d.%02d%%", hundredths/100, hundredths%100)))

		up := rollout.MaxUnavailable(v, replicas, true)
		down := rollout.MaxUnavailable(v, replicas, false)
		exact := hundredths * replicas // in ten thousandths of a pod
		if down*10000 > exact || (down+1)*10000 <= exact {
			t.Fatalf("%s of %d rounded down is %d", v.StrVal, replicas, down)
		}
		if up*10000 < exact || (up-1)*10000 >= exact && up > 0 {
			t.Fatalf("%s of %d rounded up is %d", v.StrVal, replicas, up)
		}
		if surge := rollout.MaxSurge(v, replicas); surge != up {
			t.Fatalf("MaxSurge is %d, MaxUnavailable rounded up is %d", surge, up)
		}

		partition := rollout.Partition(v, replicas)
		if partition < 0 || partition > replicas {
			t.Fatalf("partition %d is not in 0..%d", partition, replicas)
		}
		if hundredths < 10000 && replicas > 1 && partition == replicas {
			t.Fatalf("CS-62: partition %s of %d leaves no pod to update", v.StrVal, replicas)
		}
	})
}

func FuzzValidate(f *testing.F) {
	for _, seed := range []string{"25%", "33.3%", "5", "", "%", "1e3%", "99999999999999999999999999%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := intstr.FromString(text)
		pods := rollout.MaxUnavailable(&v, 10, true)
		if rollout.Validate(v) != nil && pods != 0 {
			t.Errorf("%q is refused but allows %d pods", text, pods)
		}
		if pods < 0 {
			t.Errorf("%q allows %d pods", text, pods)
		}
	})
}
