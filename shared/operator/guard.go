package operator

import (
	"context"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// referenceLease is the lease of the reference's manager (DEP-20).
	referenceLease     = "kruise-manager"
	referenceNamespace = "kruise-system"
	// longAgo is when the time on a lease alone proves that nobody renews it. Below that the clocks of
	// two machines are not trusted, and the lease is watched for as long as it would be valid.
	longAgo = 10 * time.Minute
)

// referenceGuard keeps controllers from starting while a manager of the reference runs, so that the two
// never reconcile the same objects at once (DEP-200).
type referenceGuard struct {
	reader     client.Reader
	clock      clock.PassiveClock
	namespaces []string
	seen       map[string]sighting
}

// sighting is when this process first saw a lease as it is.
type sighting struct {
	version string
	at      time.Time
}

func newReferenceGuard(reader client.Reader, clk clock.PassiveClock, ownNamespace string) *referenceGuard {
	namespaces := []string{referenceNamespace, ownNamespace}
	slices.Sort(namespaces)
	return &referenceGuard{
		reader:     reader,
		clock:      clk,
		namespaces: slices.Compact(namespaces),
		seen:       make(map[string]sighting),
	}
}

// unmet names the lease that is still held, or is empty.
func (g *referenceGuard) unmet(ctx context.Context) string {
	for _, namespace := range g.namespaces {
		var lease coordinationv1.Lease
		err := g.reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: referenceLease}, &lease)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Sprintf("reading lease %s/%s: %v", namespace, referenceLease, err)
		}
		if g.held(&lease) {
			return fmt.Sprintf("lease %s/%s, which %s still renews", namespace, referenceLease, *lease.Spec.HolderIdentity)
		}
	}
	return ""
}

// held reports whether a manager holds the lease and may still be renewing it.
func (g *referenceGuard) held(lease *coordinationv1.Lease) bool {
	if ptr.Deref(lease.Spec.HolderIdentity, "") == "" || lease.Spec.RenewTime == nil {
		return false
	}
	now := g.clock.Now()
	if now.Sub(lease.Spec.RenewTime.Time) > longAgo {
		return false
	}
	last := g.seen[lease.Namespace]
	if last.version != lease.ResourceVersion {
		g.seen[lease.Namespace] = sighting{version: lease.ResourceVersion, at: now}
		return true
	}
	return now.Sub(last.at) <= time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0))*time.Second
}
