package stop

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/clock"

	"github.com/flotilla-k8s/flotilla/daemon/cri"
)

var errUnsupportedHook = errors.New("neither exec, httpGet nor sleep")

// runHook runs a pre-stop hook and waits for its end, at most for the grace period.
func runHook(ctx context.Context, runtime cri.Runtime, clk clock.Clock, hook *corev1.LifecycleHandler, target Target) error {
	ctx, cancel := context.WithTimeout(ctx, target.Grace)
	defer cancel()
	var err error
	switch {
	case hook.Exec != nil:
		err = runtime.Exec(ctx, target.ID, hook.Exec.Command)
	case hook.HTTPGet != nil:
		err = get(ctx, hook.HTTPGet, target)
	case hook.Sleep != nil:
		err = sleep(ctx, clk, time.Duration(hook.Sleep.Seconds)*time.Second)
	default:
		err = errUnsupportedHook
	}
	if err != nil {
		return fmt.Errorf("running preStop hook: %w", err)
	}
	return nil
}

func sleep(ctx context.Context, clk clock.Clock, d time.Duration) error {
	select {
	case <-clk.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// get calls a hook's URL. Any answer is a success. A server that is named with HTTPS and speaks plain HTTP
// is called again with that, as old kubelets allowed it to be configured.
func get(ctx context.Context, action *corev1.HTTPGetAction, target Target) error {
	address, err := hookURL(action, target)
	if err != nil {
		return err
	}
	err = request(ctx, address, action.HTTPHeaders)
	if errors.Is(err, http.ErrSchemeMismatch) {
		address.Scheme = "http"
		err = request(ctx, address, action.HTTPHeaders)
	}
	return err
}

// hookURL completes what a hook leaves out: the host is that of the pod (KP-5), the scheme HTTP, and a
// port may be named by the container.
func hookURL(action *corev1.HTTPGetAction, target Target) (*url.URL, error) {
	port, err := hookPort(action.Port, target.Spec.Ports)
	if err != nil {
		return nil, err
	}
	host := cmp.Or(action.Host, target.PodIP)
	if host == "" {
		return nil, errors.New("the pod has no IP yet")
	}
	address, err := url.Parse("/" + strings.TrimPrefix(action.Path, "/"))
	if err != nil {
		return nil, fmt.Errorf("parsing path: %w", err)
	}
	address.Scheme = strings.ToLower(string(cmp.Or(action.Scheme, corev1.URISchemeHTTP)))
	address.Host = net.JoinHostPort(host, strconv.Itoa(port))
	return address, nil
}

func hookPort(port intstr.IntOrString, ports []corev1.ContainerPort) (int, error) {
	if port.Type == intstr.Int {
		return port.IntValue(), nil
	}
	i := slices.IndexFunc(ports, func(p corev1.ContainerPort) bool { return p.Name == port.StrVal })
	if i >= 0 {
		return int(ports[i].ContainerPort), nil
	}
	number, err := strconv.Atoi(port.StrVal)
	if err != nil {
		return 0, fmt.Errorf("container has no port %q", port.StrVal)
	}
	return number, nil
}

// request sends one GET and ignores the answer. Certificates are not verified, like in the kubelet: the
// pod is called by its address, for which hardly any certificate is made.
func request(ctx context.Context, address *url.URL, headers []corev1.HTTPHeader) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return err
	}
	for _, header := range headers {
		if http.CanonicalHeaderKey(header.Name) == "Host" {
			req.Host = header.Value
			continue
		}
		req.Header.Add(header.Name, header.Value)
	}
	client := http.Client{
		Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(req)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}
