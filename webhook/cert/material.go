package cert

import corev1 "k8s.io/api/core/v1"

// Keys of the Secret, the same as cert-manager's and the library's.
const (
	keyCA     = "ca.crt"
	keyCAKey  = "ca.key"
	keyCert   = corev1.TLSCertKey
	keyCertPK = corev1.TLSPrivateKeyKey
)

// Material is what the service needs of the Secret, in PEM.
type Material struct {
	// CA verifies Cert.
	CA []byte
	// Cert and Key are presented to the API server.
	Cert, Key []byte
}

func materialOf(data map[string][]byte) Material {
	return Material{CA: data[keyCA], Cert: data[keyCert], Key: data[keyCertPK]}
}
