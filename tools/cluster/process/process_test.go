package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// started runs a shell command in the background, to be killed with the test.
func started(t *testing.T, script string) Record {
	t.Helper()
	r, err := Start(Command{
		Program: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=/usr/bin:/bin"},
		Log: filepath.Join(t.TempDir(), "logs", "log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Signal(unix.SIGKILL) })
	return r
}

func TestStopEndsAProcess(t *testing.T) {
	r := started(t, "sleep 60")
	if !r.Alive() {
		t.Fatal("it does not run")
	}
	if err := r.Stop(t.Context(), 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if r.Alive() {
		t.Error("it still runs")
	}
	if err := r.Stop(t.Context(), time.Second); err != nil {
		t.Errorf("stopping it again: %v", err)
	}
}

func TestStopKillsWhatIgnoresIt(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	r, err := Start(Command{Program: "/bin/sh", Args: []string{"-c", "trap '' TERM; echo ready; while :; do sleep 1; done"}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		content, err := os.ReadFile(log)
		if err == nil && strings.Contains(string(content), "ready") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it never got ready")
		}
	}
	if err := r.Stop(t.Context(), 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if r.Alive() {
		t.Error("it still runs")
	}
}

func TestAnotherProcessOfTheSameIDIsLeftAlone(t *testing.T) {
	r := started(t, "sleep 60")
	for name, other := range map[string]Record{
		"started at another time": {PID: r.PID, Start: r.Start + 1, Boot: r.Boot},
		"of an earlier boot":      {PID: r.PID, Start: r.Start, Boot: "earlier"},
		"no process":              {},
	} {
		if other.Alive() {
			t.Errorf("%s: it passes for alive", name)
		}
		if err := other.Stop(t.Context(), time.Second); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !r.Alive() {
		t.Error("the process was stopped by a record of another")
	}
}

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", "x.json")
	if r, err := Load(path); err != nil || r.Alive() {
		t.Errorf("without a file: %+v, %v", r, err)
	}
	want := started(t, "sleep 60")
	want.Command = []string{"sleep", "60"}
	if err := want.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil || !got.Alive() || strings.Join(got.Command, " ") != "sleep 60" {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil {
		t.Error("a broken record is no error")
	}
}

func TestParseStat(t *testing.T) {
	const rest = " 1 9 9 0 -1 4194560 1 0 0 0 5 6 0 0 20 0 1 0 4711 1000 2 18446744073709551615 1 1"
	cases := map[string]struct {
		content string
		want    stat
		wantErr bool
	}{
		"plain":                       {"9 (sh) S" + rest, stat{'S', 4711}, false},
		"a name with a bracket in it": {"9 (a) R (b) Z" + rest, stat{'Z', 4711}, false},
		"cut short":                   {"9 (sh) S 1 9", stat{}, true},
		"something else":              {"hello", stat{}, true},
		"empty":                       {"", stat{}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parseStat(c.content)
			if got != c.want || (err != nil) != c.wantErr {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}
