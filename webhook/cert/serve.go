package cert

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync/atomic"
)

// Served is the certificate that this replica presents. It is safe for concurrent use; the zero value
// has none yet.
type Served struct {
	current atomic.Pointer[served]
}

type served struct {
	certificate tls.Certificate
	roots       *x509.CertPool
}

// Set presents m from the next handshake on. Material that does not belong together is an error and
// leaves the present certificate in place.
func (s *Served) Set(m Material) error {
	certificate, err := tls.X509KeyPair(m.Cert, m.Key)
	if err != nil {
		return fmt.Errorf("reading serving certificate: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(m.CA) {
		return errors.New("reading certificate authority: no certificate found")
	}
	s.current.Store(&served{certificate: certificate, roots: roots})
	return nil
}

// Empty reports whether nothing can be presented yet.
func (s *Served) Empty() bool {
	return s.current.Load() == nil
}

// GetCertificate is what a TLS server asks at each handshake.
func (s *Served) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	current := s.current.Load()
	if current == nil {
		return nil, errors.New("there is no serving certificate yet")
	}
	return &current.certificate, nil
}

// Roots returns the CA that verifies the certificate, or nil while there is none.
func (s *Served) Roots() *x509.CertPool {
	if current := s.current.Load(); current != nil {
		return current.roots
	}
	return nil
}
