package registration

import (
	"net"
	"strconv"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// servicePort is the port of the Service (WH-2).
const servicePort int32 = 443

// Target is where the API server finds this service: a Service, or, for development, a host name that
// it can reach (WH-80, WH-85).
type Target struct {
	Namespace string
	Service   string
	// Host wins over the Service if it is not empty. It is a DNS name, because certificates are made for
	// names.
	Host string
	// Port belongs to Host.
	Port int
}

// DNSNames returns the names that the serving certificate must have. The last one is for this replica's
// own calls to itself.
func (t Target) DNSNames() []string {
	names := []string{t.Service + "." + t.Namespace + ".svc", "localhost"}
	if t.Host != "" {
		names = []string{t.Host, "localhost"}
	}
	return names
}

func (t Target) url(path string) *string {
	return new("https://" + net.JoinHostPort(t.Host, strconv.Itoa(t.Port)) + path)
}

func (t Target) admission(path string, bundle []byte) admissionv1.WebhookClientConfig {
	if t.Host != "" {
		return admissionv1.WebhookClientConfig{URL: t.url(path), CABundle: bundle}
	}
	return admissionv1.WebhookClientConfig{CABundle: bundle, Service: &admissionv1.ServiceReference{
		Namespace: t.Namespace, Name: t.Service, Path: &path, Port: new(servicePort),
	}}
}

func (t Target) conversion(path string, bundle []byte) *apiextensionsv1.WebhookClientConfig {
	if t.Host != "" {
		return &apiextensionsv1.WebhookClientConfig{URL: t.url(path), CABundle: bundle}
	}
	return &apiextensionsv1.WebhookClientConfig{CABundle: bundle, Service: &apiextensionsv1.ServiceReference{
		Namespace: t.Namespace, Name: t.Service, Path: &path, Port: new(servicePort),
	}}
}
