// Package process knows how to start a program in the background, to recognise it later and to
// stop it. A process id alone is never trusted, since the kernel hands it out again.
package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Record identifies one process for good: the id, when it started and since which boot.
type Record struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks since boot
	Boot  string `json:"boot"`
	// Command is for the owner of the record, to see when another start would differ.
	Command []string `json:"command,omitempty"`
}

// Command is a program to start.
type Command struct {
	Program string // absolute path
	Args    []string
	Env     []string
	Log     string // file for its output; continued if it exists
}

// Start starts the command and returns its identity.
func Start(c Command) (Record, error) {
	pid, err := Launch(c)
	if err != nil {
		return Record{}, err
	}
	return Observe(pid)
}

// Launch starts the command in a session of its own, so that it outlives the caller and no
// terminal interrupts it. The caller's thread decides in which namespaces. The process id it returns
// is that of the caller's namespace, which a thread inside others cannot look up.
func Launch(c Command) (int, error) {
	if err := os.MkdirAll(filepath.Dir(c.Log), 0o755); err != nil {
		return 0, fmt.Errorf("making the log directory: %w", err)
	}
	log, err := os.OpenFile(c.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, fmt.Errorf("opening the log: %w", err)
	}
	defer func() { _ = log.Close() }() // the child has its own copy
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, fmt.Errorf("opening the null device: %w", err)
	}
	defer func() { _ = null.Close() }()
	child, err := os.StartProcess(c.Program, append([]string{c.Program}, c.Args...), &os.ProcAttr{
		Dir: "/", Env: c.Env, Files: []*os.File{null, log, log}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("starting %s: %w", filepath.Base(c.Program), err)
	}
	go func() { _, _ = child.Wait() }() // only to collect it, should it end before us
	return child.Pid, nil
}

// Observe returns the identity of a process that runs now.
func Observe(pid int) (Record, error) {
	stat, err := readStat(pid)
	if err != nil {
		return Record{}, fmt.Errorf("looking at process %d: %w", pid, err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Record{}, fmt.Errorf("reading the boot id: %w", err)
	}
	return Record{PID: pid, Start: stat.start, Boot: strings.TrimSpace(string(boot))}, nil
}

// Alive tells whether the very process still runs. A zombie does not.
func (r Record) Alive() bool {
	if r.PID <= 0 {
		return false
	}
	stat, err := readStat(r.PID)
	if err != nil || stat.start != r.Start || stat.state == 'Z' || stat.state == 'X' {
		return false
	}
	now, err := Observe(r.PID)
	return err == nil && now.Boot == r.Boot
}

// Signal sends a signal to the process if it is still the recorded one, and to no other.
func (r Record) Signal(signal unix.Signal) error {
	fd, err := unix.PidfdOpen(r.PID, 0)
	if errors.Is(err, unix.ESRCH) || r.PID <= 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("opening process %d: %w", r.PID, err)
	}
	defer func() { _ = unix.Close(fd) }() // it only refers to the process
	// The descriptor holds the process that had the id when it was opened; only now the check
	// cannot be overtaken.
	if !r.Alive() {
		return nil
	}
	if err := unix.PidfdSendSignal(fd, signal, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("sending %s to process %d: %w", signal, r.PID, err)
	}
	return nil
}

// Stop asks the process to end, and after the grace period makes it. It returns when the
// process is gone.
func (r Record) Stop(ctx context.Context, grace time.Duration) error {
	if grace > 0 {
		if err := r.Signal(unix.SIGTERM); err != nil {
			return err
		}
		if err := r.waitGone(ctx, grace); err == nil || ctx.Err() != nil {
			return err
		}
	}
	if err := r.Signal(unix.SIGKILL); err != nil {
		return err
	}
	return r.waitGone(ctx, 20*time.Second)
}

func (r Record) waitGone(ctx context.Context, most time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for r.Alive() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for process %d to end: %w", r.PID, ctx.Err())
		case <-ticker.C:
		}
	}
	return nil
}

// Save writes the record to a file, which appears whole or not at all.
func (r Record) Save(path string) error {
	content, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding the record of process %d: %w", r.PID, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("recording process %d: %w", r.PID, err)
	}
	if err := os.WriteFile(path+".new", content, 0o644); err != nil {
		return fmt.Errorf("recording process %d: %w", r.PID, err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("recording process %d: %w", r.PID, err)
	}
	return nil
}

// Load reads a record. Without the file it returns the zero record, which is not alive.
func Load(path string) (Record, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, nil
	}
	if err != nil {
		return Record{}, fmt.Errorf("reading a process record: %w", err)
	}
	var r Record
	if err := json.Unmarshal(content, &r); err != nil {
		return Record{}, fmt.Errorf("reading the process record %s: %w", path, err)
	}
	return r, nil
}

type stat struct {
	state byte
	start uint64
}

func readStat(pid int) (stat, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	return parseStat(string(content))
}

// parseStat reads the state and the start time, fields 3 and 22 of /proc/PID/stat. Field 2 is a
// name that may hold spaces and brackets, so fields are counted from its end.
func parseStat(content string) (stat, error) {
	_, rest, ok := strings.Cut(content[max(0, strings.LastIndexByte(content, ')')):], ")")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 {
		return stat{}, fmt.Errorf("not a process status: %q", content)
	}
	start, err := strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("not a start time: %w", err)
	}
	return stat{state: fields[0][0], start: start}, nil
}
