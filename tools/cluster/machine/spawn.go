// Package machine knows how to make something that programs take for a machine of their own: a
// set of namespaces for network, mounts, processes and host name, held by one process. When that
// process ends the kernel ends all others in it and drops its mounts and network interfaces, so
// a machine can always be removed whole.
package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/cluster/process"
)

const namespaces = unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS

// Subcommand is the argument with which this program prepares a machine from the inside.
const Subcommand = "machine"

// Spawn makes a machine. self is the path of this program, which is started inside, prepares
// the mounts and then becomes the machine's first process. Spawn returns when that has happened.
func Spawn(self string, m plan.Machine) (process.Record, error) {
	spec, err := json.Marshal(m)
	if err != nil {
		return process.Record{}, fmt.Errorf("describing machine %s: %w", m.Name, err)
	}
	for _, dir := range m.Binds {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return process.Record{}, fmt.Errorf("making a directory of machine %s: %w", m.Name, err)
		}
	}
	complaint, toParent, err := os.Pipe()
	if err != nil {
		return process.Record{}, fmt.Errorf("making machine %s: %w", m.Name, err)
	}
	defer func() { _ = complaint.Close() }()            // read only: nothing can be lost
	cmd := exec.Command(self, Subcommand, string(spec)) //nolint:noctx // it outlives every context of ours
	cmd.Dir = "/"
	cmd.Env = []string{}
	cmd.ExtraFiles = []*os.File{toParent}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: namespaces, Setsid: true}
	err = errors.Join(cmd.Start(), toParent.Close())
	if err != nil {
		return process.Record{}, fmt.Errorf("making the namespaces of machine %s: %w", m.Name, err)
	}
	record, err := process.Observe(cmd.Process.Pid)
	go func() { _ = cmd.Wait() }() // only to collect it, should it end before us
	// The pipe ends when the child executes the first process, or when it fails.
	message, readErr := io.ReadAll(complaint)
	if err = errors.Join(err, readErr); err != nil {
		return process.Record{}, fmt.Errorf("making machine %s: %w", m.Name, err)
	}
	if len(message) > 0 {
		return process.Record{}, fmt.Errorf("making machine %s: %s", m.Name, message)
	}
	return record, nil
}

// Become prepares the machine it runs in and turns into its first process. It is the body of
// Subcommand and returns only when something failed; Spawn then returns the error.
func Become(spec string) error {
	const toParent = 3 // the first of cmd.ExtraFiles
	unix.CloseOnExec(toParent)
	err := become(spec)
	pipe := os.NewFile(toParent, "parent")
	_, writeErr := pipe.WriteString(err.Error())
	return errors.Join(err, writeErr)
}

func become(spec string) error {
	var m plan.Machine
	if err := json.Unmarshal([]byte(spec), &m); err != nil {
		return fmt.Errorf("reading the description: %w", err)
	}
	if err := mountAll(m); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte(m.Name)); err != nil {
		return fmt.Errorf("setting the host name: %w", err)
	}
	for name, value := range m.Sysctls {
		if err := os.WriteFile(filepath.Join("/proc/sys", name), []byte(value), 0o644); err != nil {
			return fmt.Errorf("setting %s: %w", name, err)
		}
	}
	if err := unix.Exec(m.Init[0], slices.Concat([]string{filepath.Base(m.Init[0])}, m.Init[1:]), nil); err != nil {
		return fmt.Errorf("starting %s: %w", m.Init[0], err)
	}
	return errors.New("exec returned")
}

// mountAll arranges the machine's view of the file system. What the host unmounts vanishes here
// too, or a network namespace mounted there would live on in every machine; what is mounted here
// stays here. Inside, mounts are shared, since pods may ask for mount propagation.
func mountAll(m plan.Machine) error {
	type mount struct {
		source, target, kind string
		flags                uintptr
	}
	mounts := []mount{
		{target: "/", flags: unix.MS_REC | unix.MS_SLAVE},
		{source: "proc", target: "/proc", kind: "proc", flags: unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC},
	}
	for _, dir := range m.Tmpfs {
		mounts = append(mounts, mount{source: "tmpfs", target: dir, kind: "tmpfs", flags: unix.MS_NOSUID | unix.MS_NODEV})
	}
	for dir, source := range m.Binds {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("making %s: %w", dir, err)
		}
		mounts = append(mounts, mount{source: source, target: dir, flags: unix.MS_BIND})
	}
	mounts = append(mounts, mount{target: "/", flags: unix.MS_REC | unix.MS_SHARED})
	for _, mt := range mounts {
		if err := unix.Mount(mt.source, mt.target, mt.kind, mt.flags, ""); err != nil {
			return fmt.Errorf("mounting %s: %w", strings.TrimSpace(mt.kind+" "+mt.target), err)
		}
	}
	return nil
}
