package patch

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// conflictDelay is long enough for the watch to bring the version that was missed.
const conflictDelay = 100 * time.Millisecond

// Retry turns the end of a pass into what the queue is told: a conflict means that the pass saw an old
// version, so it is made again soon and is no error; anything else is returned as it is. A conflict
// joined with other errors does not hide them.
func Retry(result reconcile.Result, err error) (reconcile.Result, error) {
	if !onlyConflicts(err) {
		return result, err
	}
	if result.RequeueAfter == 0 || result.RequeueAfter > conflictDelay {
		result.RequeueAfter = conflictDelay
	}
	return result, nil
}

// onlyConflicts reports whether every error in the tree of a joined error is a conflict; false for nil.
func onlyConflicts(err error) bool {
	for err != nil {
		switch e := err.(type) { //nolint:errorlint // this walks the tree that errors.As would search
		case interface{ Unwrap() []error }:
			for _, one := range e.Unwrap() {
				if !onlyConflicts(one) {
					return false
				}
			}
			return len(e.Unwrap()) > 0
		case apierrors.APIStatus:
			return apierrors.IsConflict(err)
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		default:
			return false
		}
	}
	return false
}
