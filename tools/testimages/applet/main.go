// Command applet runs the busybox applet it is called as. As process 1 it stays in front of the
// applet and passes signals on: the kernel keeps a signal that process 1 does not handle from
// it, so busybox alone would sleep through TERM until its grace period ends.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

const busybox = "/bin/busybox"

func main() {
	if os.Getpid() != 1 {
		// Exec returns only when it failed.
		fatal(syscall.Exec(busybox, os.Args, os.Environ()))
	}
	code, err := supervise(busybox, os.Args)
	if err != nil {
		fatal(err)
	}
	os.Exit(code)
}

func fatal(err error) {
	fmt.Fprintf(os.Stderr, "applet: running %s: %v\n", busybox, err)
	os.Exit(127)
}

// supervise starts program, forwards signals to it, reaps every process that ends, and returns the
// exit code a shell would report once program has ended.
func supervise(program string, args []string) (int, error) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH)
	defer signal.Stop(signals)
	child, err := os.StartProcess(program, args, &os.ProcAttr{
		Env:   os.Environ(),
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
	})
	if err != nil {
		return 0, err
	}
	done := make(chan struct{})
	defer close(done)
	go forward(signals, child, done)
	return wait(child.Pid)
}

// forward passes signals to child until done is closed.
func forward(signals <-chan os.Signal, child *os.Process, done <-chan struct{}) {
	for {
		select {
		case s := <-signals:
			// It fails only when the child has ended, which wait is about to see.
			_ = child.Signal(s)
		case <-done:
			return
		}
	}
}

// wait reaps processes until pid is among them.
func wait(pid int) (int, error) {
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, fmt.Errorf("waiting for process %d: %w", pid, err)
		case ended == pid && status.Signaled():
			return 128 + int(status.Signal()), nil
		case ended == pid:
			return status.ExitStatus(), nil
		}
	}
}
