package server_test

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/shared/gates"
	"github.com/flotilla-k8s/flotilla/shared/testenv"
	"github.com/flotilla-k8s/flotilla/webhook/cert"
	"github.com/flotilla-k8s/flotilla/webhook/registration"
	"github.com/flotilla-k8s/flotilla/webhook/server"
)

// byService makes the API server call the Service, as in an installation. There is none behind it here.
func byService(o *server.Options) { o.Host = "" }

func TestReadinessWaitsForRegistration(t *testing.T) {
	s := install(t)
	t.Cleanup(func() { s.forgetHooks(t) })
	for _, object := range append(s.configurations(), s.secret()) {
		if err := s.Delete(t.Context(), object); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	}

	r := s.start(t, "127.0.0.1", nil)
	testenv.Until(t, patience, func(ctx context.Context) string {
		if err := s.Get(ctx, client.ObjectKeyFromObject(s.secret()), s.secret()); err != nil {
			return err.Error()
		}
		return r.missing(ctx, "/healthz")
	})
	if r.unready(t.Context()) == "" {
		t.Error("WH-134: ready without configurations to register in")
	}
	for _, configuration := range s.configurations() {
		if err := s.Get(t.Context(), client.ObjectKeyFromObject(configuration), configuration); !apierrors.IsNotFound(err) {
			t.Errorf("WH-79: the service made %s: %v", configuration.GetName(), err)
		}
	}

	s.applyManifest(t, filepath.Join("..", "..", "deploy", "base", "webhook", "configurations.yaml"))
	testenv.Until(t, patience, r.unready)
	if got := slices.Sorted(maps.Keys(s.hooks(t.Context(), t))); !slices.Contains(got, "mpod.kb.io") {
		t.Errorf("WH-134: ready with hooks %v", got)
	}
}

func TestRegistrationByService(t *testing.T) {
	s := install(t)
	t.Cleanup(func() { s.forgetHooks(t) })
	r := s.start(t, "127.0.0.1", byService)
	testenv.Until(t, patience, r.unready)

	paths := map[string]string{
		"mpod.kb.io":             "/mutate-pod",
		"mcloneset.kb.io":        "/mutate-apps-kruise-io-cloneset",
		"vcloneset.kb.io":        "/validate-apps-kruise-io-cloneset",
		"vcloneset-delete.kb.io": "/validate-apps-kruise-io-cloneset",
	}
	hooks := s.hooks(t.Context(), t)
	for name, path := range paths {
		want := &admissionv1.ServiceReference{Namespace: ownNamespace, Name: "kruise-webhook-service", Path: &path, Port: new(int32(443))}
		if diff := cmp.Diff(want, hooks[name].Service); diff != "" {
			t.Errorf("WH-2, DEP-18: %s:\n%s", name, diff)
		}
		if reason := r.untrustedAs("kruise-webhook-service.flotilla-system.svc", hooks[name].CABundle); reason != "" {
			t.Errorf("WH-153: %s: %s", name, reason)
		}
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := s.Get(t.Context(), client.ObjectKey{Name: cloneSetCRD}, &crd); err != nil {
		t.Fatal(err)
	}
	want := &apiextensionsv1.ServiceReference{Namespace: ownNamespace, Name: "kruise-webhook-service", Path: new("/convert"), Port: new(int32(443))}
	if diff := cmp.Diff(want, crd.Spec.Conversion.Webhook.ClientConfig.Service); diff != "" {
		t.Errorf("WH-82: the CRD:\n%s", diff)
	}

	r.stop()
	off := s.start(t, "127.0.0.1", func(o *server.Options) {
		byService(o)
		o.Gates = gates.Default().With(gates.PodWebhook, false)
	})
	testenv.Until(t, patience, off.unready)
	got := slices.Sorted(maps.Keys(s.hooks(t.Context(), t)))
	if diff := cmp.Diff([]string{"mcloneset.kb.io", foreignHook, "vcloneset.kb.io"}, got); diff != "" {
		t.Errorf("WH-9, DEP-135: hooks without the gates of pods and deletion:\n%s", diff)
	}
}

func TestExternalCertificates(t *testing.T) {
	s := install(t)
	t.Cleanup(func() { s.forgetHooks(t) })
	names := []string{"kruise-webhook-service.flotilla-system.svc", "localhost"}
	data, _, err := cert.Issuer{DNSNames: names}.Renew(nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	delete(data, "ca.key") // its maker keeps it
	s.replaceSecret(t, data)
	t.Cleanup(func() { s.replaceSecret(t, nil) })
	external := func(o *server.Options) {
		byService(o)
		o.Gates = gates.Default().With(gates.EnableExternalCerts, true)
	}

	r := s.start(t, "127.0.0.1", external)
	testenv.Until(t, patience, func(ctx context.Context) string {
		if _, listed := s.hooks(ctx, t)["vcloneset.kb.io"]; !listed {
			return "the hooks are not listed yet"
		}
		return r.missing(ctx, "/healthz")
	})
	s.inject(t, data["ca.crt"])
	if r.unready(t.Context()) == "" {
		t.Error("WH-83: ready although the CRD has no bundle")
	}
	s.injectCRD(t, data["ca.crt"])
	testenv.Until(t, patience, r.unready)
	r.stop()

	before := s.versions(t)
	again := s.start(t, "127.0.0.1", external)
	testenv.Until(t, patience, again.unready)
	if diff := cmp.Diff(before, s.versions(t)); diff != "" {
		t.Errorf("WH-83: the service wrote where nothing was to be done:\n%s", diff)
	}
	if reason := again.untrusted(data["ca.crt"]); reason != "" {
		t.Errorf("WH-92: %s", reason)
	}
}

func (s *scene) configurations() []client.Object {
	return []client.Object{
		&admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: registration.MutatingName}},
		&admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: registration.ValidatingName}},
	}
}

func (s *scene) crd() client.Object {
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: cloneSetCRD}}
}

func (s *scene) secret() client.Object {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ownNamespace, Name: "kruise-webhook-certs"}}
}

// replaceSecret puts data where the service keeps its certificate; without data there is no Secret.
func (s *scene) replaceSecret(t *testing.T, data map[string][]byte) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	secret := s.secret().(*corev1.Secret)
	if err := s.Delete(ctx, secret); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	if data == nil {
		return
	}
	secret = s.secret().(*corev1.Secret)
	secret.Data = data
	if err := s.Create(ctx, secret); err != nil {
		t.Fatal(err)
	}
}

// inject writes a bundle into every hook, as tools for external certificates do.
func (s *scene) inject(t *testing.T, bundle []byte) {
	t.Helper()
	for _, configuration := range s.configurations() {
		s.change(t, configuration, func(o client.Object) {
			switch configuration := o.(type) {
			case *admissionv1.MutatingWebhookConfiguration:
				for i := range configuration.Webhooks {
					configuration.Webhooks[i].ClientConfig.CABundle = bundle
				}
			case *admissionv1.ValidatingWebhookConfiguration:
				for i := range configuration.Webhooks {
					configuration.Webhooks[i].ClientConfig.CABundle = bundle
				}
			}
		})
	}
}

func (s *scene) injectCRD(t *testing.T, bundle []byte) {
	t.Helper()
	s.change(t, s.crd(), func(o client.Object) {
		o.(*apiextensionsv1.CustomResourceDefinition).Spec.Conversion.Webhook.ClientConfig.CABundle = bundle
	})
}

// versions returns the resource versions of everything that the service may write.
func (s *scene) versions(t *testing.T) map[string]string {
	t.Helper()
	versions := map[string]string{}
	for _, object := range append(s.configurations(), s.secret(), s.crd()) {
		if err := s.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			t.Fatal(err)
		}
		versions[object.GetName()] = object.GetResourceVersion()
	}
	return versions
}

// forgetHooks leaves no hook behind that nobody answers.
func (s *scene) forgetHooks(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	for _, configuration := range s.configurations() {
		if err := s.Delete(ctx, configuration); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	}
}
