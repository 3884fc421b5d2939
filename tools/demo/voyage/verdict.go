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
	// Recreate is the same change of the same set with podUpdatePolicy ReCreate, for comparison.
	Recreate Recreation
}

// Recreation is what was measured of an update by replacing pods. It promises nothing.
type Recreation struct {
	// Took is 0 if it was not measured; Load is nil where none could be sent.
	Took time.Duration
	Load *loadgen.Stats
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
