package voyage

import (
	"fmt"
	"time"
)

// What the demo runs: this many pods, of which this many may be out of service at one time.
const (
	Replicas       = 6
	MaxUnavailable = 2
	// DrainSeconds is how long a pod is out of service before its image is swapped.
	DrainSeconds = 3
)

// BrokenTag is the tag of an image whose program ends at once.
const BrokenTag = "broken"

// Leg is one change to the template and what should come of it.
type Leg struct {
	// Name is short enough for the head of a column.
	Name string
	// About says what happens in a line.
	About string
	// Tag of the image, and how many pods stay as they are.
	Tag       string
	Partition int
	// Stuck says that the pods cannot become ready, so that the roll-out has to stop by itself.
	Stuck bool
	// Hold is how long the end of the leg must last before it counts.
	Hold time.Duration
	// Limit is how long the whole leg may take.
	Limit time.Duration
}

// Wanted is how many pods the leg brings to its image.
func (l Leg) Wanted() int {
	if l.Stuck {
		return MaxUnavailable
	}
	return Replicas - l.Partition
}

// Legs lists the whole voyage. Without a real kubelet every image runs, so there the broken one is left
// out.
func Legs(realNodes bool) []Leg {
	legs := []Leg{
		{Name: "v2", Tag: "v2", About: fmt.Sprintf("image v1 -> v2 in place, at most %d pods at a time", MaxUnavailable)},
		{Name: "canary", Tag: "v3", Partition: Replicas - 2, Hold: 3 * time.Second,
			About: fmt.Sprintf("image v3 as a canary: partition %d, so two pods and no more", Replicas-2)},
		{Name: "back", Tag: "v2", About: "roll-back: image v2 again"},
	}
	if realNodes {
		legs = append(legs,
			Leg{Name: "broken", Tag: BrokenTag, Stuck: true, Hold: 12 * time.Second,
				About: "a broken image: the roll-out has to stop by itself, and the rest keeps serving"},
			Leg{Name: "mended", Tag: "v3", About: "the mended image, v3: the roll-out goes on"},
		)
	}
	for i := range legs {
		legs[i].Limit = 2 * time.Minute
	}
	return legs
}
