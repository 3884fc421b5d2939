package node

import (
	"errors"
	"fmt"
	"net/http"
)

// check is one condition of being healthy.
type check struct {
	name string
	err  func() error
}

var errNotSynced = errors.New("not synced")

// healthz answers 200 while every check passes, and else 500 with the first one that does not. It speaks
// of the daemon's work, so it decides on readiness; that the process is alive is said by livez. Source:
// D-15, DE-15, KP-20.
func healthz(checks []check) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, c := range checks {
			if err := c.err(); err != nil {
				http.Error(w, fmt.Sprintf("check %s failed, err: %v", c.name, err), http.StatusInternalServerError)
				return
			}
		}
		ok(w, nil)
	}
}

// ok answers as a passed check does. A client that does not read the answer is no concern of ours.
func ok(w http.ResponseWriter, _ *http.Request) {
	_, _ = fmt.Fprint(w, "ok")
}
