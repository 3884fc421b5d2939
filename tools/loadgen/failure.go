package loadgen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
)

// Failure is a kind of failed request.
type Failure string

// The kinds of failure that say what a client saw of an update. An answer with another status than 2xx is
// "status CODE".
const (
	Refused     Failure = "connection refused"
	Reset       Failure = "connection reset"
	Closed      Failure = "connection closed early"
	Unreachable Failure = "host unreachable"
	TimedOut    Failure = "timeout"
	Other       Failure = "other"
)

// StatusError is an answer with another status than 2xx.
type StatusError int

func (e StatusError) Error() string { return fmt.Sprintf("status %d", int(e)) }

// Classify returns the kind of failure that err is.
func Classify(err error) Failure {
	if status, ok := errors.AsType[StatusError](err); ok {
		return Failure(status.Error())
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return Reset
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return Unreachable
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Closed
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return TimedOut
	default:
		return Other
	}
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}
