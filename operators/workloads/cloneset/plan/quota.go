package plan

// quota is what section 10.3 allows in this pass, in pods. Nothing in it is negative except
// updateNum, whose sign is the direction, and updateMaxUnavailable, which then allows nothing.
type quota struct {
	useSurge, useSurgeOld int

	up, upOld, upLimit int // wanted creations, those at the current revision, allowed creations
	down, downOld      int // wanted removals, those at old revisions
	deleteReadyLimit   int // how many ready pods may be removed

	updateNum            int // positive: to the update revision; negative: back to the current one
	updateMaxUnavailable int
}

// computeQuota is pure arithmetic over the counts of the pods (CS-68 to CS-75).
func computeQuota(c counts, lim Limits, rollback bool) quota {
	r := lim.Replicas
	oldDiff := c.old.active - lim.Partition
	newDiff := c.fresh.active - (r - lim.Partition)
	if !rollback {
		oldDiff, newDiff = max(oldDiff, 0), min(newDiff, 0)
	}
	var q quota
	q.useSurge, q.useSurgeOld = surge(c, lim, oldDiff, newDiff)
	scaleNumbers(&q, c, lim)

	if abs(oldDiff) <= abs(newDiff) {
		q.updateNum = oldDiff
	} else {
		q.updateNum = -newDiff
	}
	q.updateMaxUnavailable = lim.MaxUnavailable + c.total() - r
	return q
}

// surge returns how many extra pods to run, and how many of them at the current revision (CS-69).
func surge(c counts, lim Limits, oldDiff, newDiff int) (use, useOld int) {
	if lim.Surge <= 0 {
		return 0, 0
	}
	var forScale, forScaleOld, forUpdate, forUpdateOld int
	if d := c.toDelete(); d > 0 {
		forScale = min(max(c.unavailable()+d-lim.MaxUnavailable, 0), d)
		forScaleOld = max(forScale-c.fresh.toDelete, 0)
	}
	if (oldDiff > 0 && newDiff < 0) || (oldDiff < 0 && newDiff > 0) {
		if abs(oldDiff) <= abs(newDiff) {
			forUpdate = abs(oldDiff)
			forUpdateOld = max(-oldDiff, 0)
		} else {
			forUpdate = abs(newDiff)
			forUpdateOld = max(newDiff, 0)
		}
	}
	if forScale >= forUpdate {
		use, useOld = forScale, forScaleOld
	} else {
		use, useOld = forUpdate, forUpdateOld
	}
	use = min(use, lim.Surge)
	return use, min(useOld, use)
}

// scaleNumbers fills in how many pods to create and to remove (CS-70 to CS-73).
func scaleNumbers(q *quota, c counts, lim Limits) {
	total, totalOld := c.total(), c.old.total
	if lim.ExcludePreparingDelete {
		total -= c.preDeleting()
		totalOld -= c.old.preDeleting
	}
	wantTotal, wantOld := lim.Replicas+q.useSurge, lim.Partition+q.useSurgeOld

	if up := wantTotal - total; up > 0 {
		q.up = up
		q.upOld = max(wantOld-totalOld, 0)
		q.upLimit = min(up, max(lim.ScaleMaxUnavailable-c.unavailable(), 0))
	}
	if down := total - c.toDelete() - wantTotal; down > 0 {
		q.down = down
		q.downOld = max(totalOld-c.old.toDelete-wantOld, 0)
	}
	if c.toDelete() > 0 || q.down > 0 {
		q.deleteReadyLimit = max(lim.MaxUnavailable+c.total()-lim.Replicas-c.unavailable(), 0)
	}
}

func abs(n int) int { return max(n, -n) }
