package cert

import (
	"bytes"
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SelfSigned keeps the Secret filled by an issuer of this service.
type SelfSigned struct {
	Client client.Client
	// Secret is created if it is absent (WH-153).
	Secret client.ObjectKey
	Issuer Issuer
	// Labels are put on the Secret when it is created.
	Labels map[string]string
}

// Ensure returns the content of the Secret after making good what is missing or will soon be invalid.
// A conflict or an existing object means that another replica was faster: the next call reads its
// result.
func (s SelfSigned) Ensure(ctx context.Context, now time.Time) (Material, error) {
	var secret corev1.Secret
	err := s.Client.Get(ctx, s.Secret, &secret)
	absent := apierrors.IsNotFound(err)
	if err != nil && !absent {
		return Material{}, fmt.Errorf("reading secret %s: %w", s.Secret, err)
	}
	data, renewed, err := s.Issuer.Renew(secret.Data, now)
	if err != nil {
		return Material{}, err
	}
	switch {
	case absent:
		secret.Namespace, secret.Name, secret.Labels = s.Secret.Namespace, s.Secret.Name, s.Labels
		secret.Data = data
		if err := s.Client.Create(ctx, &secret); err != nil {
			return Material{}, fmt.Errorf("creating secret %s: %w", s.Secret, err)
		}
	case renewed:
		before := secret.DeepCopy()
		secret.Data = data
		lock := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		if err := s.Client.Patch(ctx, &secret, lock); err != nil {
			return Material{}, fmt.Errorf("writing secret %s: %w", s.Secret, err)
		}
	}
	return materialOf(data), nil
}

// Bundle returns what a configuration whose bundle is live should hold.
func (SelfSigned) Bundle(live []byte, m Material, now time.Time) ([]byte, error) {
	return Bundle(live, m.CA, now), nil
}

// External reads a Secret that somebody else fills, and leaves the bundles to them as well (WH-92).
type External struct {
	Client client.Client
	Secret client.ObjectKey
}

// Ensure returns the content of the Secret. An absent or incomplete one is an error until it is there.
func (e External) Ensure(ctx context.Context, _ time.Time) (Material, error) {
	var secret corev1.Secret
	if err := e.Client.Get(ctx, e.Secret, &secret); err != nil {
		return Material{}, fmt.Errorf("reading secret %s of external certificates: %w", e.Secret, err)
	}
	m := materialOf(secret.Data)
	if len(m.CA) == 0 || len(m.Cert) == 0 || len(m.Key) == 0 {
		return Material{}, fmt.Errorf("reading secret %s of external certificates: needs %s, %s and %s", e.Secret, keyCA, keyCert, keyCertPK)
	}
	return m, nil
}

// Bundle returns live, and an error as long as it is not the CA of the Secret (WH-83).
func (External) Bundle(live []byte, m Material, _ time.Time) ([]byte, error) {
	if !bytes.Equal(live, m.CA) {
		return live, fmt.Errorf("the bundle is not the external certificate authority, which its injector has to put there")
	}
	return live, nil
}
