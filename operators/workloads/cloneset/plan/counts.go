package plan

import "github.com/flotilla-k8s/flotilla/shared/api/wire"

// side counts the pods of the update revision, or those of all other revisions (CS-66).
type side struct {
	total, preDeleting, active int
	toDelete                   int // specified, not yet in PreparingDelete
	unavailable                int // neither specified nor in PreparingDelete
}

// counts are the numbers of both sides.
type counts struct{ fresh, old side }

func (c counts) total() int { return c.fresh.total + c.old.total }

func (c counts) toDelete() int { return c.fresh.toDelete + c.old.toDelete }

func (c counts) preDeleting() int { return c.fresh.preDeleting + c.old.preDeleting }

// unavailable is CS-67; specified pods are not in it.
func (c counts) unavailable() int {
	return c.preDeleting() + c.fresh.unavailable + c.old.unavailable
}

func count(pods []Pod, fresh func(*Pod) bool) counts {
	var c counts
	for i := range pods {
		p := &pods[i]
		s := &c.old
		if fresh(p) {
			s = &c.fresh
		}
		s.total++
		switch {
		case p.State == wire.LifecyclePreparingDelete:
			s.preDeleting++
			continue
		case p.Specified:
			s.toDelete++
		case !p.Available:
			s.unavailable++
		}
		s.active++
	}
	return c
}
