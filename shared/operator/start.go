package operator

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// starter decides when controllers begin, and begins them.
type starter struct {
	op     *Operator
	guard  *referenceGuard
	hooks  hookCheck
	served servedKinds
	// controllers are those whose gates are on.
	controllers []Controller
	// prerequisites is closed once everything was met for the first time in this process.
	prerequisites chan struct{}
}

func newStarter(op *Operator, disco discovery.ServerResourcesInterface) *starter {
	reader := op.manager.GetAPIReader()
	return &starter{
		op:            op,
		guard:         newReferenceGuard(reader, op.opts.Clock, op.opts.Namespace),
		hooks:         hookCheck{reader: reader, names: wantedHooks(op.app.Hooks, op.opts.Gates)},
		served:        servedKinds{disco},
		controllers:   wantedControllers(op.app.Controllers, op.opts.Gates),
		prerequisites: make(chan struct{}),
	}
}

// awaitPrerequisites runs in every replica: it makes the replica ready once it could lead.
func (s *starter) awaitPrerequisites(ctx context.Context) error {
	s.await(ctx, s.unmetPrerequisite)
	if !ended(ctx) {
		s.op.status.done()
		close(s.prerequisites)
	}
	<-ctx.Done()
	return nil
}

// startControllers runs in the leader. The lease of the reference is looked at again, since a standby
// may have passed that condition long ago (DEP-200); the webhook is not, since its outage must not keep a
// standby from taking over (WH-135).
func (s *starter) startControllers(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.prerequisites:
	}
	s.await(ctx, s.guard.unmet)
	if ended(ctx) {
		return nil
	}
	s.op.status.done()
	return s.setUpAsServed(ctx)
}

// setUpAsServed sets up each controller when its kind is served, until all are.
func (s *starter) setUpAsServed(ctx context.Context) error {
	pending := s.controllers
	reported := false
	err := wait.PollUntilContextCancel(ctx, s.op.opts.RecheckPeriod, true, func(ctx context.Context) (bool, error) {
		var missing []Controller
		for _, c := range pending {
			served, err := s.served.has(c.Kind)
			if err != nil || !served {
				missing = append(missing, c)
				continue
			}
			if err := s.setUp(ctx, c); err != nil {
				return false, err
			}
		}
		if len(missing) > 0 && (!reported || len(missing) != len(pending)) {
			logf.FromContext(ctx).Info("Controllers start once their kinds are served", "controllers", controllerNames(missing))
			reported = true
		}
		pending = missing
		return len(pending) == 0, nil
	})
	if ended(ctx) {
		return nil
	}
	return err
}

func (s *starter) setUp(ctx context.Context, c Controller) error {
	if err := c.Setup(ctx, s.op.Deps()); err != nil {
		return fmt.Errorf("setting up %s: %w", c.Name, err)
	}
	logf.FromContext(ctx).Info("Started controller", "controller", c.Name)
	return nil
}

// unmetPrerequisite names the first thing that keeps this replica from leading, or is empty.
func (s *starter) unmetPrerequisite(ctx context.Context) string {
	for _, check := range []func(context.Context) string{s.guard.unmet, s.unservedKinds, s.hooks.unmet} {
		if unmet := check(ctx); unmet != "" {
			return unmet
		}
	}
	return ""
}

// unservedKinds names the missing kinds while none of the controllers could run. One is enough: the
// others start when their kinds appear (DEP-199).
func (s *starter) unservedKinds(context.Context) string {
	var missing []string
	for _, c := range s.controllers {
		served, err := s.served.has(c.Kind)
		switch {
		case err != nil:
			return fmt.Sprintf("the API server: %v", err)
		case served:
			return ""
		default:
			missing = append(missing, c.Kind.GroupKind().String())
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return "the CRD of " + strings.Join(missing, ", ")
}

// await polls until nothing is unmet or the context ends, and keeps the status and the log up to date.
func (s *starter) await(ctx context.Context, unmet func(context.Context) string) {
	log := logf.FromContext(ctx)
	waited := false
	_ = wait.PollUntilContextCancel(ctx, s.op.opts.RecheckPeriod, true, func(ctx context.Context) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		what := unmet(ctx)
		if what == "" {
			return true, nil
		}
		waited = true
		if s.op.status.wait(what) {
			log.Info("Waiting before controllers start", "for", what)
		}
		return false, nil
	}) // the only error is that of the context, which the caller looks at
	if waited && !ended(ctx) {
		log.Info("Waiting is over")
	}
}

func controllerNames(controllers []Controller) []string {
	var names []string
	for _, c := range controllers {
		names = append(names, c.Name)
	}
	return names
}

// ended reports whether the process was told to stop.
func ended(ctx context.Context) bool {
	return ctx.Err() != nil
}
