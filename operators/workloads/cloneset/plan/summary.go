package plan

import (
	"fmt"
	"time"
)

// Summary is the part of the status that follows from the world (section 3 and 16.1). It is counted
// over the pods as they were read: what this pass changed shows in the next one (CS-132).
type Summary struct {
	Replicas, Ready, Available              int32
	Updated, UpdatedReady, UpdatedAvailable int32
	ExpectedUpdated                         int32
	CurrentRevision, UpdateRevision         string
}

// Summarize counts the pods of a world.
func Summarize(w *World) Summary {
	s := Summary{
		Replicas:        int32(len(w.Pods)),
		CurrentRevision: w.Current,
		UpdateRevision:  w.Update,
		ExpectedUpdated: int32(max(w.Limits.Replicas-w.Limits.Partition, 0)),
	}
	for i := range w.Pods {
		p := &w.Pods[i]
		add(&s.Ready, p.Ready)
		add(&s.Available, p.Available)
		if w.updated(p) {
			s.Updated++
			add(&s.UpdatedReady, p.Ready)
			add(&s.UpdatedAvailable, p.Available)
		}
	}
	if s.Updated == s.Replicas && int(s.Replicas) == w.Limits.Replicas {
		s.CurrentRevision = w.Update
	}
	return s
}

func add(n *int32, yes bool) {
	if yes {
		*n++
	}
}

// Reasons of condition Progressing; wire (CS-135).
const (
	ReasonAvailable          = "CloneSetAvailable"
	ReasonPaused             = "CloneSetPaused"
	ReasonPartitionAvailable = "ProgressPartitionAvailable"
	ReasonDeadlineExceeded   = "ProgressDeadlineExceeded"
	ReasonUpdated            = "CloneSetUpdated"
)

// Progress is condition Progressing.
type Progress struct {
	Reason, Message string
	Since           time.Time // last progress; the deadline runs from here
}

// Moved tells what changed since the condition was last written.
type Moved struct {
	Numbers  bool // the counts came forward
	Revision bool // there is a new update revision
}

// Failed tells whether the condition is False.
func (p Progress) Failed() bool { return p.Reason == ReasonDeadlineExceeded }

// Progressed computes condition Progressing from the previous one (section 16.2 with C-12, C-25 and
// CS-137 done right): the clock starts anew with a new update revision, with every change of the
// numbers, and when the set leaves a resting state. before is nil when there was no condition. The
// second result is when the deadline passes; 0 for never.
func Progressed(w *World, s Summary, before *Progress, moved Moved, deadline time.Duration) (Progress, time.Duration) {
	replicas := int32(w.Limits.Replicas)
	rest := func(reason, message string) (Progress, time.Duration) {
		since := w.Now
		if before != nil && before.Reason == reason {
			since = before.Since
		}
		return Progress{Reason: reason, Message: message, Since: since}, 0
	}
	switch {
	case s.CurrentRevision == s.UpdateRevision && s.Replicas == replicas && s.Updated == replicas && s.UpdatedAvailable == replicas:
		return rest(ReasonAvailable, "CloneSet is available")
	case w.Limits.Paused:
		return rest(ReasonPaused, "CloneSet is paused")
	case s.ExpectedUpdated < replicas && s.ExpectedUpdated <= s.UpdatedAvailable && s.Available >= replicas:
		return rest(ReasonPartitionAvailable, "CloneSet has been paused due to partition ready")
	}
	since := w.Now
	if before != nil && !moved.Revision {
		switch {
		case before.Reason == ReasonDeadlineExceeded:
			return exceeded(s, before.Since), 0
		case before.Reason == ReasonUpdated && !moved.Numbers:
			since = before.Since
		}
	}
	left := since.Add(deadline).Sub(w.Now)
	if left < 0 {
		return exceeded(s, w.Now), 0
	}
	// One second late, so that the look at the deadline finds it passed.
	return Progress{Reason: ReasonUpdated, Message: "CloneSet is progressing", Since: since}, left + time.Second
}

func exceeded(s Summary, since time.Time) Progress {
	return Progress{Reason: ReasonDeadlineExceeded, Since: since,
		Message: fmt.Sprintf("CloneSet revision %s has timed out progressing", s.UpdateRevision)}
}
