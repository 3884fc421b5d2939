package machine_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flotilla-k8s/flotilla/tools/cluster/machine"
	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/cluster/process"
)

// TestMain lets the test program stand in for the real one, which Spawn starts anew inside.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == machine.Subcommand {
		fmt.Fprintln(os.Stderr, machine.Become(os.Args[2]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// spec describes a machine with an empty /run and a directory of the host at /mnt.
func spec(t *testing.T) plan.Machine {
	t.Helper()
	return plan.Machine{
		Name:    "some-machine",
		Init:    []string{"/bin/sh", "-c", "while :; do sleep 1; done"},
		Tmpfs:   []string{"/run"},
		Binds:   map[string]string{"/mnt": filepath.Join(t.TempDir(), "mounted")},
		Sysctls: map[string]string{"net/ipv4/ip_forward": "1"},
	}
}

func spawn(t *testing.T, m plan.Machine) process.Record {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("namespaces need root")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	first, err := machine.Spawn(self, m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = first.Stop(t.Context(), 0) })
	return first
}

func inside(t *testing.T, first process.Record, script string) string {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
	cmd.Stdout = &out
	if err := machine.Run(first, cmd); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

func TestAMachineIsSeparate(t *testing.T) {
	m := spec(t)
	first := spawn(t, m)
	for script, want := range map[string]string{
		"cat /proc/sys/kernel/hostname":     "some-machine",
		"cat /proc/1/comm":                  "sh",
		"ls /run | wc -l":                   "0",
		"cat /proc/sys/net/ipv4/ip_forward": "1",
		"grep -c : /proc/net/dev":           "1", // the loopback interface alone
	} {
		if got := inside(t, first, script); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", script, got, want)
		}
	}
	inside(t, first, "echo hello > /mnt/file && echo there > /run/file")
	if content, err := os.ReadFile(filepath.Join(m.Binds["/mnt"], "file")); err != nil || string(content) != "hello\n" {
		t.Errorf("the mounted directory has %q, %v", content, err)
	}
	if _, err := os.Stat("/run/file"); err == nil {
		t.Error("the machine has written to the host's /run")
	}
	if host, err := os.Hostname(); err != nil || host == "some-machine" {
		t.Errorf("the host is called %q, %v", host, err)
	}
}

func TestAMachineEndsWhole(t *testing.T) {
	m := spec(t)
	first := spawn(t, m)
	started, err := machine.Start(first, process.Command{
		Program: "/bin/sh", Args: []string{"-c", "sleep 600 & wait"}, Env: []string{"PATH=/usr/bin:/bin"},
		Log: filepath.Join(t.TempDir(), "log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if !started.Alive() {
		t.Fatal("the process does not run")
	}
	if err := first.Stop(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if started.Alive() {
		t.Error("a process outlives its machine")
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mounts), m.Binds["/mnt"]) {
		t.Error("a mount of the machine is on the host")
	}
	if err := machine.Run(first, exec.CommandContext(t.Context(), "/bin/true")); err == nil {
		t.Error("a machine that is gone can be entered")
	}
}

func TestSpawnReports(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("namespaces need root")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*plan.Machine)
		want   string
	}{
		"a first process that is not there": {func(m *plan.Machine) { m.Init[0] = "/no/such/program" }, "/no/such/program"},
		"a setting that is not there":       {func(m *plan.Machine) { m.Sysctls = map[string]string{"no/such": "1"} }, "no/such"},
		"a directory that cannot be":        {func(m *plan.Machine) { m.Tmpfs = []string{"/dev/null"} }, "/dev/null"},
	} {
		m := spec(t)
		c.change(&m)
		if first, err := machine.Spawn(self, m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %+v, %v", name, first, err)
		}
	}
}

func TestRunSaysWhatFailed(t *testing.T) {
	err := machine.RunHere(exec.CommandContext(t.Context(), "/bin/sh", "-c", "echo the reason >&2; exit 3"))
	if err == nil || !strings.Contains(err.Error(), "the reason") || !strings.Contains(err.Error(), "3") {
		t.Errorf("got %v", err)
	}
}
