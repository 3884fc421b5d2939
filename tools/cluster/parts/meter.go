package parts

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
)

// meterInterval is how often a running build reports.
const meterInterval = 10 * time.Second

// meter reads what go build -v writes: one line per compiled package, and anything else is a
// complaint or a download. It reports the first as a count and keeps the second for the error.
type meter struct {
	out      io.Writer
	label    string
	now      func() time.Time
	started  time.Time
	reported time.Time
	packages int
	partial  []byte
	other    []string
}

func newMeter(out io.Writer, label string) *meter {
	now := time.Now()
	return &meter{out: out, label: label, now: time.Now, started: now, reported: now}
}

// Write counts complete lines and reports at most once per interval.
func (m *meter) Write(p []byte) (int, error) {
	m.partial = append(m.partial, p...)
	for {
		line, rest, ok := bytes.Cut(m.partial, []byte("\n"))
		if !ok {
			break
		}
		m.line(string(line))
		m.partial = rest
	}
	if now := m.now(); now.Sub(m.reported) >= meterInterval {
		m.reported = now
		fmt.Fprintf(m.out, "%s: %d packages compiled, %s\n", m.label, m.packages, now.Sub(m.started).Round(time.Second))
	}
	return len(p), nil
}

func (m *meter) line(line string) {
	switch {
	case strings.HasPrefix(line, "go: downloading"):
	case strings.ContainsAny(line, " \t"):
		m.other = append(m.other, line)
	case line != "":
		m.packages++
	}
}

// complaints returns the last lines that were neither a package nor a download.
func (m *meter) complaints() string {
	const most = 20
	lines := append(m.other, string(m.partial))
	if len(lines) > most {
		lines = lines[len(lines)-most:]
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
