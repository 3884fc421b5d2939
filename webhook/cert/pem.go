package cert

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
)

// parseAuthority reads a CA that Issuer made.
func parseAuthority(certPEM, keyPEM []byte) (*rotator.KeyPairArtifacts, error) {
	certs := parseCertificates(certPEM)
	keyBlock, _ := pem.Decode(keyPEM)
	if len(certs) == 0 || keyBlock == nil {
		return nil, errors.New("reading certificate authority: no certificate or no key")
	}
	key, err := x509.ParsePKCS1PrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, fmt.Errorf("reading key of certificate authority: %w", err)
	}
	return &rotator.KeyPairArtifacts{Cert: certs[0], Key: key, CertPEM: certPEM, KeyPEM: keyPEM}, nil
}

// parseCertificates returns the certificates in data and skips everything else.
func parseCertificates(data []byte) []*x509.Certificate {
	var certs []*x509.Certificate
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		cert, err := x509.ParseCertificate(block.Bytes)
		if err == nil {
			certs = append(certs, cert)
		}
	}
	return certs
}

func encodeCertificate(cert *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})
}
