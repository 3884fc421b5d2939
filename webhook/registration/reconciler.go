package registration

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/flotilla-k8s/flotilla/webhook/cert"
)

const (
	// lookAgain is the time between two runs without an event (WH-78). It notices what watches do not
	// tell: a certificate that comes of age, a CA that has been replaced long enough.
	lookAgain = time.Minute
	// afterRace is the time after which a replica that lost a race to another one reads the result.
	afterRace = 200 * time.Millisecond
)

// Certificates is where the serving certificate and the bundles come from: cert.SelfSigned or
// cert.External.
type Certificates interface {
	// Ensure returns a certificate that is valid now.
	Ensure(ctx context.Context, now time.Time) (cert.Material, error)
	// Bundle returns what should stand where the bundle live stands, also if there is an error.
	Bundle(live []byte, m cert.Material, now time.Time) ([]byte, error)
}

// Reconciler keeps certificate, configurations and conversion stanzas as they should be. There is one
// request, whatever happened.
type Reconciler struct {
	// Client reads from a cache.
	Client       client.Client
	Clock        clock.PassiveClock
	Certificates Certificates
	// Served is given every certificate once the API server knows its CA.
	Served *cert.Served
	Target Target
	// Hooks of the enabled families.
	Hooks []Hook
	// CRDs are the names of those of the enabled families that have two versions.
	CRDs []string
	// ConversionPath is where they are converted.
	ConversionPath string

	done    atomic.Bool
	failure atomic.Pointer[error]
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	err := r.run(ctx, r.Clock.Now())
	if isRace(err) {
		return reconcile.Result{RequeueAfter: afterRace}, nil
	}
	if err != nil {
		r.failure.Store(&err)
		return reconcile.Result{}, err
	}
	r.done.Store(true)
	return reconcile.Result{RequeueAfter: lookAgain}, nil
}

func (r *Reconciler) run(ctx context.Context, now time.Time) error {
	material, err := r.Certificates.Ensure(ctx, now)
	if err != nil {
		return err
	}
	bundle := func(live []byte) ([]byte, error) { return r.Certificates.Bundle(live, material, now) }
	errs := []error{r.reconcileMutating(ctx, bundle), r.reconcileValidating(ctx, bundle)}
	for _, name := range r.CRDs {
		errs = append(errs, r.reconcileConversion(ctx, name, bundle))
	}
	if r.mayServe(errs) {
		errs = append(errs, r.Served.Set(material))
	}
	return errors.Join(errs...)
}

// mayServe holds a new certificate back until every bundle that exists has its CA: until then the
// certificate served before is the better one (KP-11).
func (r *Reconciler) mayServe(errs []error) bool {
	if r.Served.Empty() {
		return true
	}
	for _, err := range errs {
		if err != nil && !apierrors.IsNotFound(err) {
			return false
		}
	}
	return true
}

// isRace reports whether another writer was faster, which the next run makes good. Anything else that
// is joined to it is found again then.
func isRace(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)
}

// Ready returns nil once everything has been as it should be, and until then why it is not. What fails
// later is mended without taking away the replica, which can still serve.
func (r *Reconciler) Ready() error {
	if r.done.Load() {
		return nil
	}
	if failure := r.failure.Load(); failure != nil {
		return fmt.Errorf("registering hooks and certificates: %w", *failure)
	}
	return errors.New("hooks and certificates are not registered yet")
}
