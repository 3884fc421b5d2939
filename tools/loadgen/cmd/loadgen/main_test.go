package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flotilla-k8s/flotilla/tools/loadgen"
)

func TestLine(t *testing.T) {
	s := loadgen.Stats{
		Sent: 13, Missed: 1, Answered: 11, Failed: 2,
		Versions: map[string]int{"v2": 3, "v1": 8},
		Failures: map[loadgen.Failure]int{loadgen.Refused: 2},
		Latency:  loadgen.Latency{P50: 1234567, P90: 2 * time.Millisecond, P99: 3 * time.Millisecond, Max: time.Second},
	}
	want := "sent 13; answered 11 (v1 8, v2 3); failed 2 (connection refused 2); missed 1; latency p50 1.23ms, p90 2ms, p99 3ms, max 1s"
	if diff := cmp.Diff(want, line(s)); diff != "" {
		t.Errorf("line (-want +have):\n%s", diff)
	}
}

func TestWatchShowsCountsUntilStopped(t *testing.T) {
	recorder := new(loadgen.Recorder)
	recorder.Sent()
	reader, writer := io.Pipe()
	stop := watch(recorder, time.Millisecond, writer)
	text, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil || !strings.HasPrefix(text, "sent 1;") {
		t.Errorf("progress is %q (error %v)", text, err)
	}
	_ = reader.Close() // lets a line on its way out end, never fails
	stop()
}

func TestCommandReports(t *testing.T) {
	cases := map[string]struct {
		status int
		fails  bool
	}{
		"every request answered": {http.StatusOK, false},
		"a request failed":       {http.StatusServiceUnavailable, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(c.status) }))
			defer server.Close()
			var out bytes.Buffer
			cmd := command()
			cmd.SetArgs([]string{server.URL, "--rate=100", "--duration=100ms", "--every=0", "--json"})
			cmd.SetOut(&out)
			if err := cmd.ExecuteContext(t.Context()); (err != nil) != c.fails {
				t.Errorf("error is %v, want one: %t", err, c.fails)
			}
			var stats loadgen.Stats
			if err := json.Unmarshal(out.Bytes(), &stats); err != nil {
				t.Fatal(err)
			}
			if stats.Sent != 10 || stats.Answered+stats.Failed != 10 {
				t.Errorf("counts are %+v", stats)
			}
		})
	}
}
