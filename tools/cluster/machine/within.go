package machine

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/flotilla-k8s/flotilla/tools/cluster/process"
)

// Within runs a function in the namespaces of the machine whose first process is given. What it
// starts is born inside. The function must not start goroutines that should be inside as well.
func Within(first process.Record, run func() error) error {
	result := make(chan error)
	go func() {
		// The thread is never unlocked: it cannot leave the namespaces, and the runtime ends
		// it together with this goroutine.
		runtime.LockOSThread()
		if err := enter(first); err != nil {
			result <- err
			return
		}
		result <- run()
	}()
	return <-result
}

func enter(first process.Record) error {
	fd, err := unix.PidfdOpen(first.PID, 0)
	if err != nil {
		return fmt.Errorf("opening machine %d: %w", first.PID, err)
	}
	defer func() { _ = unix.Close(fd) }() // it only refers to the process
	if !first.Alive() {
		return fmt.Errorf("entering machine %d: it is gone", first.PID)
	}
	// Threads share their working directory and root; one that enters a mount namespace must
	// first have its own.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("separating a thread: %w", err)
	}
	if err := unix.Setns(fd, namespaces); err != nil {
		return fmt.Errorf("entering machine %d: %w", first.PID, err)
	}
	return nil
}

// Start starts a command inside the machine.
func Start(first process.Record, c process.Command) (process.Record, error) {
	var pid int
	err := Within(first, func() error {
		var err error
		pid, err = process.Launch(c)
		return err
	})
	if err != nil {
		return process.Record{}, err
	}
	return process.Observe(pid)
}

// Run runs a command inside the machine to its end, with the streams the caller has set. Its
// error holds what the command wrote to standard error, unless the caller wanted that.
func Run(first process.Record, cmd *exec.Cmd) error {
	complaints := capture(cmd)
	if err := Within(first, cmd.Start); err != nil {
		return fmt.Errorf("running %s in machine %d: %w", cmd.Args[0], first.PID, err)
	}
	return explain(cmd, cmd.Wait(), complaints)
}

// RunHere runs a command to its end in the namespaces of this program, like Run.
func RunHere(cmd *exec.Cmd) error {
	complaints := capture(cmd)
	return explain(cmd, cmd.Run(), complaints)
}

// Batch runs commands of ip(8) in the machine, or on the host if there is none.
func Batch(ctx context.Context, first *process.Record, commands []string) error {
	if len(commands) == 0 {
		return nil
	}
	cmd := exec.CommandContext(ctx, "ip", "-batch", "-")
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	if first == nil {
		return RunHere(cmd)
	}
	return Run(*first, cmd)
}

func capture(cmd *exec.Cmd) *bytes.Buffer {
	var complaints bytes.Buffer
	if cmd.Stderr == nil {
		cmd.Stderr = &complaints
	}
	return &complaints
}

func explain(cmd *exec.Cmd, err error, complaints *bytes.Buffer) error {
	if err == nil {
		return nil
	}
	text := strings.TrimSpace(complaints.String())
	if text == "" {
		return fmt.Errorf("running %s: %w", strings.Join(cmd.Args, " "), err)
	}
	return fmt.Errorf("running %s: %w: %s", strings.Join(cmd.Args, " "), err, text)
}
