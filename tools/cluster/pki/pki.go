// Package pki knows how to make the keys and certificates of a cluster and to keep them.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// validity of everything issued. A local cluster is gone long before.
const validity = 10 * 365 * 24 * time.Hour

// Subject says who a certificate is for. One without hosts is a mere client's.
type Subject struct {
	User   string
	Groups []string
	Hosts  []string // DNS names and addresses
}

// Store keeps keys and certificates as PEM files in a directory.
type Store struct {
	Dir string
	Now func() time.Time
}

// Authority is a certificate authority of the store.
type Authority struct {
	store Store
	cert  *x509.Certificate
	key   *ecdsa.PrivateKey
}

// Authority returns the authority of that name and makes it if the store has none.
func (s Store) Authority(name string) (*Authority, error) {
	cert, key, err := s.load(name)
	if err == nil {
		return &Authority{store: s, cert: cert, key: key}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("loading authority %s: %w", name, err)
	}
	template, err := s.template(Subject{User: "flotilla-" + name})
	if err != nil {
		return nil, err
	}
	template.IsCA = true
	template.ExtKeyUsage = nil // a usage here would bind all it signs
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageCRLSign
	key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the key of authority %s: %w", name, err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("making authority %s: %w", name, err)
	}
	if cert, err = x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("making authority %s: %w", name, err)
	}
	return &Authority{store: s, cert: cert, key: key}, s.save(name, der, key)
}

// Issue makes sure that the store has a certificate of that name for exactly this subject.
func (a *Authority) Issue(name string, subject Subject) error {
	have, key, err := a.store.load(name)
	if err == nil && a.serves(have, key, subject) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("loading certificate %s: %w", name, err)
	}
	template, err := a.store.template(subject)
	if err != nil {
		return err
	}
	key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("making the key of %s: %w", name, err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return fmt.Errorf("issuing certificate %s: %w", name, err)
	}
	return a.store.save(name, der, key)
}

// serves tells whether a certificate still does for the subject.
func (a *Authority) serves(cert *x509.Certificate, key *ecdsa.PrivateKey, subject Subject) bool {
	hosts := slices.Clone(cert.DNSNames)
	for _, ip := range cert.IPAddresses {
		hosts = append(hosts, ip.String())
	}
	slices.Sort(hosts)
	return key.PublicKey.Equal(cert.PublicKey) &&
		cert.CheckSignatureFrom(a.cert) == nil &&
		a.store.Now().Before(cert.NotAfter) &&
		cert.Subject.CommonName == subject.User &&
		slices.Equal(cert.Subject.Organization, subject.Groups) &&
		slices.Equal(hosts, slices.Sorted(slices.Values(subject.Hosts)))
}

// template returns an end entity's certificate, unsigned.
func (s Store) template(subject Subject) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("choosing a serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: subject.User, Organization: subject.Groups},
		NotBefore:    s.Now().Add(-time.Hour), // clocks of pods may lag
		NotAfter:     s.Now().Add(validity),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if len(subject.Hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	for _, host := range subject.Hosts {
		if addr, err := netip.ParseAddr(host); err == nil {
			template.IPAddresses = append(template.IPAddresses, addr.AsSlice())
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return template, nil
}

// KeyPair makes sure that the store has the key of that name and its public half, for
// signatures without certificates.
func (s Store) KeyPair(name, public string) error {
	if _, err := os.Stat(filepath.Join(s.Dir, public)); err == nil {
		return nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("making key %s: %w", name, err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("encoding key %s: %w", name, err)
	}
	if err := s.saveKey(name, key); err != nil {
		return err
	}
	return s.write(public, "PUBLIC KEY", der)
}

func (s Store) load(name string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	certDER, err := s.read(name + ".crt")
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := s.read(name + ".key")
	if err != nil {
		return nil, nil, err
	}
	cert, err := x509.ParseCertificate(certDER)
	if err != nil {
		return nil, nil, fmt.Errorf("parsing %s.crt: %w", name, err)
	}
	key, err := x509.ParseECPrivateKey(keyDER)
	if err != nil {
		return nil, nil, fmt.Errorf("parsing %s.key: %w", name, err)
	}
	return cert, key, nil
}

func (s Store) save(name string, der []byte, key *ecdsa.PrivateKey) error {
	if err := s.saveKey(name, key); err != nil {
		return err
	}
	return s.write(name+".crt", "CERTIFICATE", der)
}

func (s Store) saveKey(name string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encoding key %s: %w", name, err)
	}
	return s.write(name+".key", "EC PRIVATE KEY", der)
}

func (s Store) read(file string) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(s.Dir, file))
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(content)
	if block == nil {
		return nil, fmt.Errorf("reading %s: no PEM in it", file)
	}
	return block.Bytes, nil
}

func (s Store) write(file, kind string, der []byte) error {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return fmt.Errorf("making the directory of keys: %w", err)
	}
	content := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(filepath.Join(s.Dir, file), content, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return nil
}
