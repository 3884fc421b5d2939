// Command loadgen sends HTTP requests to a service of a test cluster and reports what clients of it
// would have seen.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/flotilla-k8s/flotilla/tools/loadgen"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "loadgen:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	c := loadgen.Config{Recorder: new(loadgen.Recorder)}
	var every time.Duration
	var keepAlive, asJSON bool
	cmd := &cobra.Command{
		Use:   "loadgen URL",
		Short: "Send a steady stream of requests and count answers by version, failures by kind",
		Long: "Loadgen sends GET requests to a loopback or private address and prints counts during the run\n" +
			"on standard error and at its end on standard output. It fails if a request failed.",
		Args:          cobra.ExactArgs(1),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Target, c.DisableKeepAlives = args[0], !keepAlive
			stop := watch(c.Recorder, every, cmd.ErrOrStderr())
			stats, err := loadgen.Run(cmd.Context(), c)
			stop()
			if err != nil {
				return err
			}
			return report(cmd.OutOrStdout(), stats, asJSON)
		},
	}
	f := cmd.Flags()
	f.IntVar(&c.Rate, "rate", 50, "requests a second")
	f.IntVar(&c.Concurrency, "concurrency", 32, "requests under way at one time")
	f.DurationVar(&c.Duration, "duration", 30*time.Second, "how long to send")
	f.DurationVar(&c.Timeout, "timeout", 2*time.Second, "how long one request may take")
	f.BoolVar(&keepAlive, "keep-alive", false, "use connections again instead of a new one for each request")
	f.DurationVar(&every, "every", time.Second, "time between counts during the run; 0 for none")
	f.BoolVar(&asJSON, "json", false, "print the final counts as JSON, durations in nanoseconds")
	return cmd
}

// watch prints the recorder's counts at every interval until the returned function is called.
func watch(r *loadgen.Recorder, every time.Duration, out io.Writer) (stop func()) {
	if every <= 0 {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				// Progress that cannot be shown must not end the run.
				_, _ = fmt.Fprintln(out, line(r.Snapshot()))
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// report prints the final counts and returns an error if a request failed.
func report(out io.Writer, s loadgen.Stats, asJSON bool) error {
	text := []byte(line(s))
	if asJSON {
		var err error
		if text, err = json.Marshal(s); err != nil {
			return fmt.Errorf("encoding counts: %w", err)
		}
	}
	if _, err := fmt.Fprintln(out, string(text)); err != nil {
		return fmt.Errorf("printing counts: %w", err)
	}
	if s.Failed > 0 {
		return fmt.Errorf("%d of %d requests failed, the last with: %s", s.Failed, s.Sent, s.LastError)
	}
	return nil
}

// line shows s in one line of text.
func line(s loadgen.Stats) string {
	parts := []string{
		fmt.Sprintf("sent %d", s.Sent),
		fmt.Sprintf("answered %d%s", s.Answered, counts(s.Versions)),
		fmt.Sprintf("failed %d%s", s.Failed, counts(s.Failures)),
	}
	if s.Missed > 0 {
		parts = append(parts, fmt.Sprintf("missed %d", s.Missed))
	}
	l := s.Latency
	return strings.Join(append(parts, fmt.Sprintf("latency p50 %s, p90 %s, p99 %s, max %s",
		short(l.P50), short(l.P90), short(l.P99), short(l.Max))), "; ")
}

// counts lists numbers in the order of their names: " (v1 10, v2 3)".
func counts[K ~string](m map[K]int) string {
	if len(m) == 0 {
		return ""
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func short(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
