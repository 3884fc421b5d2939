package server_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1alpha1"
	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/gates"
	"github.com/flotilla-k8s/flotilla/webhook/registration"
	"github.com/flotilla-k8s/flotilla/webhook/server"
)

const (
	patience     = 30 * time.Second
	ownNamespace = "flotilla-system"
	cloneSetCRD  = "clonesets.apps.kruise.io"
	foreignHook  = "policy.example.org"
)

// scene is an API server on which the manifests of the service are installed.
type scene struct {
	client.WithWatch
	namespace string
	port      int
}

// install applies what deploy has for the service, except for the Deployment and what only it needs, and
// puts a hook of somebody else into the mutating configuration.
func install(t *testing.T) *scene {
	t.Helper()
	s := &scene{
		WithWatch: apiServer.Client(t, v1alpha1.AddToScheme, v1beta1.AddToScheme, apiextensionsv1.AddToScheme),
		namespace: apiServer.Namespace(t),
		port:      freePort(t),
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ownNamespace}}
	if err := s.Create(t.Context(), namespace); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"role.yaml", "role-own-namespace.yaml", "role-bindings.yaml", "configurations.yaml"} {
		s.applyManifest(t, filepath.Join("..", "..", "deploy", "base", "webhook", file))
	}
	s.addForeignHook(t)
	s.convertByService(t)
	return s
}

func (s *scene) applyManifest(t *testing.T, path string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	for decoder := yaml.NewYAMLOrJSONDecoder(file, 4096); ; {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if err := s.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("installer"), client.ForceOwnership); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
}

func (s *scene) addForeignHook(t *testing.T) {
	t.Helper()
	none := admissionv1.SideEffectClassNone
	ignore := admissionv1.Ignore
	s.change(t, &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: registration.MutatingName}}, func(o client.Object) {
		configuration := o.(*admissionv1.MutatingWebhookConfiguration)
		configuration.Webhooks = []admissionv1.MutatingWebhook{{
			Name:         foreignHook,
			ClientConfig: admissionv1.WebhookClientConfig{URL: new("https://policy.example.org/"), CABundle: testCA(t)},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{"example.org"}, APIVersions: []string{"v1"}, Resources: []string{"things"}},
			}},
			FailurePolicy: &ignore, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}}
	})
}

// convertByService makes the CRD as its kustomization leaves it: converted by a service of ours, without
// a bundle.
func (s *scene) convertByService(t *testing.T) {
	t.Helper()
	s.change(t, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: cloneSetCRD}}, func(o client.Object) {
		o.(*apiextensionsv1.CustomResourceDefinition).Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
			Strategy: apiextensionsv1.WebhookConverter,
			Webhook: &apiextensionsv1.WebhookConversion{
				ConversionReviewVersions: []string{"v1", "v1beta1"},
				ClientConfig: &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{
					Namespace: ownNamespace, Name: "kruise-webhook-service", Path: new("/convert"),
				}},
			},
		}
	})
}

func (s *scene) change(t *testing.T, object client.Object, change func(client.Object)) {
	t.Helper()
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	before := object.DeepCopyObject().(client.Object)
	change(object)
	if err := s.Patch(t.Context(), object, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// replica is a running service.
type replica struct {
	host   string
	port   int
	probes string
	stop   func()
}

// start runs a replica as the ServiceAccount of the manifests. Replicas differ by the loopback address
// on which they listen; the API server calls the one at 127.0.0.1.
func (s *scene) start(t *testing.T, host string, change func(*server.Options)) *replica {
	t.Helper()
	cfg := apiServer.Config(t)
	cfg.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + ownNamespace + ":kruise-webhook",
		Groups:   []string{"system:serviceaccounts", "system:authenticated"},
	}
	opts := server.DefaultOptions()
	opts.Gates = opts.Gates.With(gates.ResourcesDeletionProtection, true)
	opts.Host = "localhost"
	opts.ListenHost, opts.Port = host, s.port
	opts.MetricsAddr = "0"
	opts.HealthProbeAddr = net.JoinHostPort(host, strconv.Itoa(freePort(t)))
	opts.ProtectionLogPath = t.TempDir()
	opts.Registry = prometheus.NewRegistry()
	opts.SharedProcess = true
	if change != nil {
		change(&opts)
	}
	service, err := server.New(cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- service.Start(ctx) }()
	r := &replica{host: host, port: s.port, probes: "http://" + opts.HealthProbeAddr}
	r.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("replica %s: %v", host, err)
		}
		r.stop = func() {}
	}
	t.Cleanup(func() { r.stop() })
	return r
}

// unready returns why the replica is not ready, or "".
func (r *replica) unready(ctx context.Context) string {
	return r.missing(ctx, "/readyz")
}

// missing returns why a probe fails, or "".
func (r *replica) missing(ctx context.Context, probe string) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.probes+probe, http.NoBody)
	if err != nil {
		return err.Error()
	}
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = response.Body.Close() }() // nothing is read of it
	if response.StatusCode != http.StatusOK {
		return probe + " answers " + response.Status
	}
	return ""
}

// untrusted returns why the replica's certificate does not verify by a bundle, or "".
func (r *replica) untrusted(bundle []byte) string {
	return r.untrustedAs("localhost", bundle)
}

func (r *replica) untrustedAs(name string, bundle []byte) string {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	address := net.JoinHostPort(r.host, strconv.Itoa(r.port))
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: time.Second}, "tcp", address, &tls.Config{RootCAs: roots, ServerName: name, MinVersion: tls.VersionTLS12})
	if err != nil {
		return fmt.Sprintf("replica %s: %v", r.host, err)
	}
	return closeError(conn)
}

func closeError(c io.Closer) string {
	if err := c.Close(); err != nil {
		return err.Error()
	}
	return ""
}

// hooks returns the client configurations of both configurations by hook.
func (s *scene) hooks(ctx context.Context, t *testing.T) map[string]admissionv1.WebhookClientConfig {
	t.Helper()
	hooks := map[string]admissionv1.WebhookClientConfig{}
	var mutating admissionv1.MutatingWebhookConfiguration
	if err := s.Get(ctx, client.ObjectKey{Name: registration.MutatingName}, &mutating); err != nil {
		t.Fatal(err)
	}
	for _, hook := range mutating.Webhooks {
		hooks[hook.Name] = hook.ClientConfig
	}
	var validating admissionv1.ValidatingWebhookConfiguration
	if err := s.Get(ctx, client.ObjectKey{Name: registration.ValidatingName}, &validating); err != nil {
		t.Fatal(err)
	}
	for _, hook := range validating.Webhooks {
		hooks[hook.Name] = hook.ClientConfig
	}
	return hooks
}

// requests returns how often a path was called in this process.
func requests(t *testing.T, path string) float64 {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, family := range families {
		if family.GetName() != "controller_runtime_webhook_requests_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "webhook" && label.GetValue() == path {
					total += metric.GetCounter().GetValue()
				}
			}
		}
	}
	return total
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return port
}

// refusal returns the text of an admission error, and fails the test on any other outcome.
func refusal(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		t.Fatal("was not refused")
	}
	if !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) || strings.Contains(err.Error(), "failed calling webhook") {
		t.Fatalf("failed instead of being refused: %v", err)
	}
	return err.Error()
}
