// Package loadgen knows how to send a steady, bounded stream of HTTP requests to a service of a test cluster
// and to count what became of each: by version that answered, by kind of failure, by latency.
package loadgen

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"time"
)

// What one run can do at most. It is meant for a cluster under test, not for testing a cluster's limits.
const (
	MaxRate        = 1000
	MaxConcurrency = 256
	MaxDuration    = time.Hour
	MaxTimeout     = time.Minute
)

// Config says what to send.
type Config struct {
	// Target is the URL to GET. Its host is localhost, or an address that is loopback or private
	// (RFC 1918).
	Target string
	// Rate is the number of requests a second, 1 to MaxRate.
	Rate int
	// Concurrency is the number of requests under way at one time, 1 to MaxConcurrency. A request that is due
	// while so many are under way is not sent but counted as missed.
	Concurrency int
	// Duration is how long to send, up to MaxDuration.
	Duration time.Duration
	// Timeout is how long one request may take, connecting included, up to MaxTimeout.
	Timeout time.Duration
	// DisableKeepAlives opens a connection for each request, as many clients of a Service do.
	DisableKeepAlives bool
	// Version reads from a body which version answered; nil is VersionField.
	Version func(body []byte) string
	// Recorder counts; give one to look at it during the run. Nil is a new one.
	Recorder *Recorder
}

// VersionField returns the field "version" of a JSON object and "unknown" where there is none.
func VersionField(body []byte) string {
	var answer struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Version == "" {
		return "unknown"
	}
	return answer.Version
}

// check returns every fault of c.
func (c Config) check() error {
	return errors.Join(
		checkTarget(c.Target),
		within("rate", c.Rate, MaxRate),
		within("concurrency", c.Concurrency, MaxConcurrency),
		within("duration", c.Duration, MaxDuration),
		within("timeout", c.Timeout, MaxTimeout),
	)
}

func within[N int | time.Duration](name string, value, limit N) error {
	if value <= 0 || value > limit {
		return fmt.Errorf("%s %v is not above zero and at most %v", name, value, limit)
	}
	return nil
}

func checkTarget(target string) error {
	u, err := url.Parse(target)
	if err != nil {
		return fmt.Errorf("reading target: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("target %q is not an http or https URL", target)
	}
	if u.Hostname() == "localhost" {
		return nil
	}
	address, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return fmt.Errorf("target %q names neither localhost nor an address", target)
	}
	return checkAddress(address)
}

// checkAddress returns an error unless address is loopback or private (RFC 1918).
func checkAddress(address netip.Addr) error {
	address = address.Unmap()
	if address.IsLoopback() || address.Is4() && address.IsPrivate() {
		return nil
	}
	return fmt.Errorf("address %s is neither loopback nor private (RFC 1918)", address)
}
