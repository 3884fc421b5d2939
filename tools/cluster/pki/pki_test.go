package pki_test

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/flotilla-k8s/flotilla/tools/cluster/pki"
)

var start = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func newStore(t *testing.T) (pki.Store, *pki.Authority) {
	t.Helper()
	store := pki.Store{Dir: t.TempDir(), Now: func() time.Time { return start }}
	authority, err := store.Authority("ca")
	if err != nil {
		t.Fatal(err)
	}
	return store, authority
}

func certificate(t *testing.T, store pki.Store, name string) *x509.Certificate {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(store.Dir, name+".crt"))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(content)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func issue(t *testing.T, authority *pki.Authority, name string, subject pki.Subject) {
	t.Helper()
	if err := authority.Issue(name, subject); err != nil {
		t.Fatal(err)
	}
}

func TestIssue(t *testing.T) {
	store, authority := newStore(t)
	issue(t, authority, "server", pki.Subject{User: "server", Hosts: []string{"example.com", "10.0.0.1"}})
	issue(t, authority, "client", pki.Subject{User: "client", Groups: []string{"a", "b"}})
	roots := x509.NewCertPool()
	roots.AddCert(certificate(t, store, "ca"))
	verify := func(name, host string, usage x509.ExtKeyUsage) error {
		_, err := certificate(t, store, name).Verify(x509.VerifyOptions{
			Roots: roots, DNSName: host, CurrentTime: start.Add(time.Minute), KeyUsages: []x509.ExtKeyUsage{usage},
		})
		return err
	}
	for _, host := range []string{"example.com", "10.0.0.1"} {
		if err := verify("server", host, x509.ExtKeyUsageServerAuth); err != nil {
			t.Errorf("server as %s: %v", host, err)
		}
	}
	if err := verify("client", "", x509.ExtKeyUsageClientAuth); err != nil {
		t.Errorf("client: %v", err)
	}
	if err := verify("client", "", x509.ExtKeyUsageServerAuth); err == nil {
		t.Error("a mere client can serve")
	}
	info, err := os.Stat(filepath.Join(store.Dir, "client.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key has mode %v, %v", info.Mode(), err)
	}
}

func TestIssueAgain(t *testing.T) {
	subject := pki.Subject{User: "x", Groups: []string{"g"}, Hosts: []string{"b.example", "10.0.0.1", "a.example"}}
	cases := map[string]struct {
		change  func(*pki.Subject)
		passed  time.Duration
		renewed bool
	}{
		"the same subject keeps its certificate":      {},
		"the order of hosts does not matter":          {change: func(s *pki.Subject) { s.Hosts = []string{"10.0.0.1", "a.example", "b.example"} }},
		"another host needs another certificate":      {change: func(s *pki.Subject) { s.Hosts = []string{"c.example"} }, renewed: true},
		"another user needs another certificate":      {change: func(s *pki.Subject) { s.User = "y" }, renewed: true},
		"another group needs another certificate":     {change: func(s *pki.Subject) { s.Groups = nil }, renewed: true},
		"an expired certificate is replaced":          {passed: 11 * 365 * 24 * time.Hour, renewed: true},
		"a certificate is kept for as long as it can": {passed: 9 * 365 * 24 * time.Hour},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			store, authority := newStore(t)
			issue(t, authority, "x", subject)
			first := certificate(t, store, "x")
			now := start.Add(c.passed)
			store.Now = func() time.Time { return now }
			again, err := store.Authority("ca")
			if err != nil {
				t.Fatal(err)
			}
			want := subject
			if c.change != nil {
				c.change(&want)
			}
			issue(t, again, "x", want)
			if renewed := !certificate(t, store, "x").Equal(first); renewed != c.renewed {
				t.Errorf("renewed: %t", renewed)
			}
		})
	}
}

func TestACertificateWithoutItsKeyIsReplaced(t *testing.T) {
	store, authority := newStore(t)
	issue(t, authority, "x", pki.Subject{User: "x"})
	issue(t, authority, "other", pki.Subject{User: "other"})
	first := certificate(t, store, "x")
	if err := os.Rename(filepath.Join(store.Dir, "other.key"), filepath.Join(store.Dir, "x.key")); err != nil {
		t.Fatal(err)
	}
	issue(t, authority, "x", pki.Subject{User: "x"})
	if certificate(t, store, "x").Equal(first) {
		t.Error("a certificate with another's key was kept")
	}
}

func TestKeyPairIsKept(t *testing.T) {
	store, _ := newStore(t)
	read := func() string {
		t.Helper()
		if err := store.KeyPair("sa", "sa.pub"); err != nil {
			t.Fatal(err)
		}
		private, err := os.ReadFile(filepath.Join(store.Dir, "sa.key"))
		if err != nil {
			t.Fatal(err)
		}
		public, err := os.ReadFile(filepath.Join(store.Dir, "sa.pub"))
		if err != nil {
			t.Fatal(err)
		}
		return string(private) + string(public)
	}
	first := read()
	if read() != first {
		t.Error("the keys changed")
	}
}

func TestKubeconfig(t *testing.T) {
	store, authority := newStore(t)
	issue(t, authority, "admin", pki.Subject{User: "admin"})
	content, err := store.Kubeconfig("test", "https://10.0.0.1:6443", "ca", "admin")
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != "https://10.0.0.1:6443" || len(config.CAData) == 0 || len(config.CertData) == 0 || len(config.KeyData) == 0 {
		t.Errorf("got %v", config)
	}
	if _, err := store.Kubeconfig("test", "https://10.0.0.1:6443", "ca", "nobody"); err == nil {
		t.Error("a kubeconfig for nobody")
	}
}
