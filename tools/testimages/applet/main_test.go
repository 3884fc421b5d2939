package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// script in the environment makes the test binary supervise a shell that runs it.
const script = "TEST_SUPERVISE_SCRIPT"

func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(script); ok {
		code, err := supervise("/bin/sh", []string{"sh", "-c", text})
		if err != nil {
			fatal(err)
		}
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func TestSuperviseReturnsTheExitCode(t *testing.T) {
	cases := map[string]struct {
		script string
		want   int
	}{
		"success":                   {"exit 0", 0},
		"failure":                   {"exit 7", 7},
		"end by a signal":           {"kill -KILL $$", 128 + 9},
		"an orphan that ends first": {"(true &) ; exit 3", 3},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if have := exitCode(t, supervised(t, c.script, false).Run()); have != c.want {
				t.Errorf("exit code is %d, want %d", have, c.want)
			}
		})
	}
}

func TestSuperviseForwardsSignals(t *testing.T) {
	cmd := supervised(t, `trap "exit 5" USR1; echo started; while :; do sleep 0.05; done`, false)
	if have := signalled(t, cmd, syscall.SIGUSR1); have != 5 {
		t.Errorf("exit code is %d, want 5", have)
	}
}

func TestProcessOneEndsOnTerm(t *testing.T) {
	cmd := supervised(t, "echo started; exec sleep 600", true)
	if have := signalled(t, cmd, syscall.SIGTERM); have != 128+15 {
		t.Errorf("exit code is %d, want 143", have)
	}
}

// supervised is the test binary as supervisor of a shell script, as process 1 of a PID namespace
// where asked.
func supervised(t *testing.T, text string, first bool) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), script+"="+text)
	cmd.Stderr = os.Stderr
	if first {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
		if os.Geteuid() != 0 {
			cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		}
	}
	return cmd
}

// signalled starts cmd, sends it signal once it has printed its first line, and returns its exit
// code.
func signalled(t *testing.T, cmd *exec.Cmd, signal syscall.Signal) int {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
		t.Skipf("no PID namespace may be made here: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(line) != "started" {
		t.Fatalf("script printed %q (error %v)", line, err)
	}
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	return exitCode(t, cmd.Wait())
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Fatal(err)
	}
	return exit.ExitCode()
}
