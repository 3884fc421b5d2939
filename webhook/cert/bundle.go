package cert

import (
	"bytes"
	"crypto/x509"
	"slices"
	"time"
)

// overlap is how long a replaced CA stays trusted. It only has to outlast the moments in which a
// replica still serves the old certificate; a day also covers one that cannot read its Secret for a while.
const overlap = 24 * time.Hour

// Bundle returns the certificates by which the API server is to verify this service: current, and while
// current is new also the newest other CA that live, the present bundle, holds. Without the other one,
// calls would fail from the moment the bundle changes until each replica serves the new certificate
// (KP-11). The result depends on nothing but its input, so all replicas write the same.
func Bundle(live, current []byte, now time.Time) []byte {
	cas := parseCertificates(current)
	if len(cas) == 0 || now.After(cas[0].NotBefore.Add(backdate+overlap)) {
		return current
	}
	var previous *x509.Certificate
	for _, ca := range parseCertificates(live) {
		known := slices.ContainsFunc(cas, ca.Equal)
		if !known && now.Before(ca.NotAfter) && (previous == nil || ca.NotBefore.After(previous.NotBefore)) {
			previous = ca
		}
	}
	if previous == nil {
		return current
	}
	return slices.Concat(bytes.TrimRight(current, "\n"), []byte("\n"), encodeCertificate(previous))
}
