package voyage

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Journal follows the pods of one set from the moment all of them are ready, and writes down each broken
// promise and how long each pod took in each leg. Times are those at which the demo heard of a change.
type Journal struct {
	// first holds what the pods were at the start; pods the present.
	first, pods map[string]Pod
	legs        []Entry
	breaches    []string
}

// Entry is what became of one leg.
type Entry struct {
	Leg   Leg
	Began time.Time
	// Took is the time from the change until all wanted pods were ready, without the hold; 0 if it never came
	// to that.
	Took time.Duration
	// Pods holds the same for each pod that was changed.
	Pods map[string]time.Duration
	// Reached holds the pods that got the leg's image, whether or not it made them ready.
	Reached map[string]bool
	// restarts holds the restart count of each pod at the beginning.
	restarts map[string]int32
}

// NewJournal begins with pods that are all ready.
func NewJournal(pods []Pod) *Journal {
	j := &Journal{first: map[string]Pod{}, pods: map[string]Pod{}}
	for _, p := range pods {
		j.first[p.Name], j.pods[p.Name] = p, p
	}
	return j
}

// Begin starts a leg, whose change was written at the given time.
func (j *Journal) Begin(leg Leg, at time.Time) {
	restarts := map[string]int32{}
	for name, p := range j.pods {
		restarts[name] = p.Restarts
	}
	j.legs = append(j.legs, Entry{
		Leg: leg, Began: at, Pods: map[string]time.Duration{}, Reached: map[string]bool{}, restarts: restarts,
	})
}

// See takes in a pod as it is now.
func (j *Journal) See(p Pod, at time.Time) {
	before, known := j.first[p.Name]
	switch {
	case !known:
		if _, seen := j.pods[p.Name]; !seen {
			j.breach("pod %s was made in place of another", p.Name)
		}
	case p.identity() != before.identity():
		j.breach("pod %s is not the same any more: %+v was %+v", p.Name, p.identity(), before.identity())
	}
	if last, seen := j.pods[p.Name]; seen && last.Ready && last.Image != p.Image {
		j.breach("the image of pod %s was changed while it was in service", p.Name)
	}
	j.pods[p.Name] = p
	j.checkLimits()
	j.clock(p, at)
}

// Gone takes in that a pod was deleted.
func (j *Journal) Gone(name string) {
	if _, known := j.pods[name]; known {
		j.breach("pod %s was deleted", name)
		delete(j.pods, name)
	}
}

// clock stops the time of a pod, and of the leg with its last pod.
func (j *Journal) clock(p Pod, at time.Time) {
	if len(j.legs) == 0 {
		return
	}
	e := &j.legs[len(j.legs)-1]
	if p.Tag() != e.Leg.Tag || !e.swapped(p) {
		return
	}
	e.Reached[p.Name] = true
	if _, done := e.Pods[p.Name]; done || !p.Serves() {
		return
	}
	e.Pods[p.Name] = at.Sub(e.Began)
	if e.Took == 0 && j.serving(e.Leg.Tag) >= e.Leg.Wanted() {
		e.Took = at.Sub(e.Began)
	}
}

// swapped tells whether the pod's container was replaced during the leg. A pod that had the leg's image
// already takes no time.
func (e *Entry) swapped(p Pod) bool { return p.Restarts > e.restarts[p.Name] }

// checkLimits writes down when more pods are out of service than allowed, or broken ones are.
func (j *Journal) checkLimits() {
	out, broken := 0, 0
	for _, p := range j.pods {
		if !p.Ready {
			out++
		}
		if p.Tag() == BrokenTag {
			broken++
		}
	}
	out += max(0, len(j.first)-len(j.pods))
	if out > MaxUnavailable {
		j.breach("%d pods out of service at one time, %d are allowed", out, MaxUnavailable)
	}
	if broken > MaxUnavailable {
		j.breach("the broken image reached %d pods, %d are allowed", broken, MaxUnavailable)
	}
}

// breach writes a broken promise down, once.
func (j *Journal) breach(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(j.breaches, text) {
		j.breaches = append(j.breaches, text)
	}
}

// serving counts the pods that serve with the image of a tag.
func (j *Journal) serving(tag string) int {
	n := 0
	for _, p := range j.pods {
		if p.Tag() == tag && p.Serves() {
			n++
		}
	}
	return n
}

// Arrived tells whether the present leg is where it should end: the wanted pods serve with its image, or, of a
// roll-out that has to stop, run it and do not serve; no pod beyond them was changed; the rest serves.
func (j *Journal) Arrived() bool {
	if len(j.legs) == 0 {
		return false
	}
	e := &j.legs[len(j.legs)-1]
	there, rest := 0, 0
	for _, p := range j.pods {
		switch {
		case p.Tag() != e.Leg.Tag:
			if p.Serves() {
				rest++
			}
		case e.Leg.Stuck && !p.Ready && e.swapped(p), !e.Leg.Stuck && p.Serves():
			there++
		}
	}
	return there == e.Leg.Wanted() && rest == len(j.first)-e.Leg.Wanted()
}

// Overshot tells whether the present leg changed more pods than it should, which no waiting mends.
func (j *Journal) Overshot() bool {
	if len(j.legs) == 0 {
		return false
	}
	leg, n := j.legs[len(j.legs)-1].Leg, 0
	for _, p := range j.pods {
		if p.Tag() == leg.Tag {
			n++
		}
	}
	return n > leg.Wanted()
}

// Pods returns the pods as they are now, by name.
func (j *Journal) Pods() []Pod {
	return slices.SortedFunc(maps.Values(j.pods), byName)
}

// Entries returns what became of the legs so far.
func (j *Journal) Entries() []Entry { return slices.Clone(j.legs) }

// Fail writes down that the present leg did not arrive.
func (j *Journal) Fail(why string) { j.breach("%s", why) }
