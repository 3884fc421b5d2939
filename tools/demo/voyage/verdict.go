package voyage

import (
	"fmt"
	"slices"
	"time"

	"github.com/flotilla-k8s/flotilla/tools/loadgen"
)

// Voyage is everything the demo has measured.
type Voyage struct {
	Journal *Journal
	// Load is what clients of the Service saw; nil where no load could be sent.
	Load *loadgen.Stats
	// Recreate is how long the same set took for v1 -> v2 with podUpdatePolicy ReCreate; 0 if it was not
	// measured.
	Recreate time.Duration
}

// Broken lists the promises that were not kept; empty is success.
func (v Voyage) Broken() []string {
	broken := slices.Clone(v.Journal.breaches)
	if v.Load == nil {
		return broken
	}
	if v.Load.Failed > 0 {
		broken = append(broken, fmt.Sprintf("%d of %d requests failed %v, the last with: %s",
			v.Load.Failed, v.Load.Sent, v.Load.Failures, v.Load.LastError))
	}
	if v.Load.Answered == 0 {
		broken = append(broken, "no request was answered, so none could have shown a failure")
	}
	return broken
}
