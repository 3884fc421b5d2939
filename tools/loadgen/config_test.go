package loadgen_test

import (
	"strings"
	"testing"
	"time"

	"github.com/flotilla-k8s/flotilla/tools/loadgen"
)

// valid is a Config that Run accepts; nothing listens at its target.
func valid() loadgen.Config {
	return loadgen.Config{Target: "http://127.0.0.1:1", Rate: 100, Concurrency: 1, Duration: 10 * time.Millisecond, Timeout: time.Second}
}

func TestTargetMustBeLoopbackOrPrivate(t *testing.T) {
	refused := []string{
		"http://8.8.8.8/", "http://172.32.0.1/", "http://169.254.169.254/", "http://[2001:db8::1]/", "http://[::ffff:8.8.8.8]/",
		"http://100.64.0.1/", "http://0.0.0.0/", "http://example.org/", "http://localhost.example.org/", "http://127.0.0.1.example.org/",
		"http://10.0.0.1@8.8.8.8/", "ftp://127.0.0.1/", "127.0.0.1:80", "http://", "", "http://127.0.0.1:port/",
	}
	for _, target := range refused {
		t.Run(target, func(t *testing.T) {
			c := valid()
			c.Target = target
			if stats, err := loadgen.Run(t.Context(), c); err == nil || stats.Sent != 0 {
				t.Errorf("%d requests were sent, error is %v", stats.Sent, err)
			}
		})
	}
}

func TestTargetsOfAClusterAreAccepted(t *testing.T) {
	// A finished context keeps requests to these addresses from being sent.
	for _, target := range []string{
		"http://127.0.0.1:1/", "http://localhost:1/", "https://[::1]:1/", "http://10.96.0.1/", "http://172.16.0.1/", "http://192.168.0.1/",
	} {
		t.Run(target, func(t *testing.T) {
			c := valid()
			c.Target = target
			if _, err := loadgen.Run(finished(t), c); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCapsHold(t *testing.T) {
	cases := map[string]struct {
		change func(*loadgen.Config)
		want   string
	}{
		"no rate":              {func(c *loadgen.Config) { c.Rate = 0 }, "rate 0"},
		"too high a rate":      {func(c *loadgen.Config) { c.Rate = loadgen.MaxRate + 1 }, "rate 1001"},
		"no concurrency":       {func(c *loadgen.Config) { c.Concurrency = -1 }, "concurrency -1"},
		"too many at a time":   {func(c *loadgen.Config) { c.Concurrency = loadgen.MaxConcurrency + 1 }, "concurrency 257"},
		"no duration":          {func(c *loadgen.Config) { c.Duration = 0 }, "duration 0s"},
		"too long a run":       {func(c *loadgen.Config) { c.Duration = loadgen.MaxDuration + 1 }, "at most 1h0m0s"},
		"no timeout":           {func(c *loadgen.Config) { c.Timeout = 0 }, "timeout 0s"},
		"too long a timeout":   {func(c *loadgen.Config) { c.Timeout = loadgen.MaxTimeout + 1 }, "at most 1m0s"},
		"every fault is named": {func(c *loadgen.Config) { *c = loadgen.Config{Target: "http://127.0.0.1"} }, "timeout"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			config := valid()
			c.change(&config)
			_, err := loadgen.Run(t.Context(), config)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestVersionField(t *testing.T) {
	cases := map[string]string{
		`{"version":"v1","pod":"web-0"}`: "v1",
		`{"version":""}`:                 "unknown",
		`{"version":1}`:                  "unknown",
		`<html>`:                         "unknown",
		``:                               "unknown",
	}
	for body, want := range cases {
		if have := loadgen.VersionField([]byte(body)); have != want {
			t.Errorf("version of %q is %q, want %q", body, have, want)
		}
	}
}
