package cert

import (
	"crypto/x509"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
)

// Lives of certificates (WH-153). A CA outlives many serving certificates, so that renewal hardly ever
// changes what the API server has to trust (WH-89).
const (
	caName         = "flotilla-webhook-ca"
	caOrganization = "flotilla"
	caLife         = 10 * 365 * 24 * time.Hour
	// ServingLife is how long a serving certificate is good.
	ServingLife = 365 * 24 * time.Hour
	// DefaultRenewBefore is how long before its end a certificate is replaced.
	DefaultRenewBefore = 90 * 24 * time.Hour
	// backdate keeps a certificate valid for readers whose clock is behind.
	backdate = time.Hour
)

// Issuer makes certificates for a service.
type Issuer struct {
	// DNSNames are the names under which the service is called; there is at least one.
	DNSNames []string
	// RenewBefore is how long before its end a certificate counts as invalid. It must be shorter than
	// the life of a serving certificate, one year.
	RenewBefore time.Duration
}

// Renew returns data with whatever was missing or will soon be invalid made anew, and whether anything
// was. The CA is kept as long as it is good; a new one takes a new serving certificate along. data is
// not changed, and members that are not of this service stay.
func (i Issuer) Renew(data map[string][]byte, now time.Time) (map[string][]byte, bool, error) {
	library := i.library()
	deadline := now.Add(i.RenewBefore)
	goodCA := verifies(data[keyCA], data[keyCA], data[keyCAKey], []string{caName}, nil, deadline)
	if goodCA && verifies(data[keyCA], data[keyCert], data[keyCertPK], i.DNSNames, library.ExtKeyUsages, deadline) {
		return data, false, nil
	}
	renewed := maps.Clone(data)
	if renewed == nil {
		renewed = map[string][]byte{}
	}
	begin := now.Add(-backdate)
	authority, err := i.authority(renewed, goodCA, begin)
	if err != nil {
		return nil, false, err
	}
	renewed[keyCert], renewed[keyCertPK], err = library.CreateCertPEM(authority, begin, begin.Add(ServingLife))
	if err != nil {
		return nil, false, fmt.Errorf("making serving certificate: %w", err)
	}
	return renewed, true, nil
}

// authority returns the CA in data, after putting a new one there unless the one that is there is good.
func (i Issuer) authority(data map[string][]byte, good bool, begin time.Time) (*rotator.KeyPairArtifacts, error) {
	if good {
		return parseAuthority(data[keyCA], data[keyCAKey])
	}
	authority, err := i.library().CreateCACert(begin, begin.Add(caLife))
	if err != nil {
		return nil, fmt.Errorf("making certificate authority: %w", err)
	}
	data[keyCA], data[keyCAKey] = authority.CertPEM, authority.KeyPEM
	return authority, nil
}

func (i Issuer) library() *rotator.CertRotator {
	return &rotator.CertRotator{
		CAName:         caName,
		CAOrganization: caOrganization,
		DNSName:        i.DNSNames[0],
		ExtraDNSNames:  slices.Clone(i.DNSNames[1:]),
		ExtKeyUsages:   &[]x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
}

// verifies reports whether cert belongs to key and is good at a time for all names.
func verifies(ca, cert, key []byte, names []string, usages *[]x509.ExtKeyUsage, at time.Time) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		// The error says in what way the certificate is bad, which makes no difference: it is replaced.
		good, err := rotator.ValidCert(ca, cert, key, name, usages, at)
		return err != nil || !good
	})
}
