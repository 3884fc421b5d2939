package loadgen

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// bodyLimit is how many bytes of an answer are read; the rest is of no interest here.
const bodyLimit = 64 << 10

// Run sends requests as c says until c.Duration is over or ctx ends, waits for those under way, which
// takes at most c.Timeout, and returns the counts. Only a fault of c is an error. Proxies and redirects are not
// followed: every connection goes to the target.
func Run(ctx context.Context, c Config) (Stats, error) {
	if err := c.check(); err != nil {
		return Stats{}, err
	}
	if c.Recorder == nil {
		c.Recorder = new(Recorder)
	}
	if c.Version == nil {
		c.Version = VersionField
	}
	client := newClient(c)
	defer client.CloseIdleConnections()
	// A request is not cut when the run ends: that would look like a failure of the target.
	unbounded := context.WithoutCancel(ctx)
	schedule := pace{rate: c.Rate, concurrency: c.Concurrency, duration: c.Duration}
	schedule.run(ctx, func() { c.send(unbounded, client) }, c.Recorder.Missed)
	return c.Recorder.Snapshot(), nil
}

// send makes one request and records its outcome.
func (c Config) send(ctx context.Context, client *http.Client) {
	c.Recorder.Sent()
	start := time.Now()
	body, err := c.get(ctx, client)
	if err != nil {
		c.Recorder.Fail(err)
		return
	}
	c.Recorder.Answer(c.Version(body), time.Since(start))
}

func (c Config) get(ctx context.Context, client *http.Client) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Target, nil)
	if err != nil {
		return nil, fmt.Errorf("making request: %w", err)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	// The body has been read or given up; closing it can tell nothing more.
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, bodyLimit))
	if err != nil {
		return nil, fmt.Errorf("reading answer: %w", err)
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return nil, StatusError(response.StatusCode)
	}
	return body, nil
}

func newClient(c Config) *http.Client {
	dialer := &net.Dialer{Timeout: c.Timeout, Control: controlAddress}
	return &http.Client{
		Timeout: c.Timeout,
		Transport: &http.Transport{
			DialContext:         dialer.DialContext,
			DisableKeepAlives:   c.DisableKeepAlives,
			MaxIdleConnsPerHost: c.Concurrency,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// controlAddress refuses, just before a connection is made, an address that a name resolved to and that
// Config.Target could not name.
func controlAddress(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("reading address to connect to: %w", err)
	}
	return checkAddress(to.Addr())
}
