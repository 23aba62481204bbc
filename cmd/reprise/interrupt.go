package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// endWithin is the time between a signal and the exit of the process. Within it, a command may write its results so
// far.
const endWithin = 600 * time.Millisecond

// signalled is the signal that ends the process, 0 for none yet.
var signalled atomic.Int32

// endAtSignals ends the process endWithin after the first SIGINT or SIGTERM, even during a kernel, a plan, or a read of
// standard input. A second signal kills the process at once.
func endAtSignals(stderr io.Writer) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		got := <-signals
		signalled.Store(int32(got.(syscall.Signal)))
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		time.Sleep(endWithin)
		unfinished.drop()
		fmt.Fprintln(stderr, "reprise: interrupted")
		os.Exit(statusOfSignal())
	}()
}

// statusOfSignal returns the exit status of an interrupted process, as a shell reports it: 128 plus the signal's
// number.
func statusOfSignal() int {
	if got := signalled.Load(); got != 0 {
		return 128 + int(got)
	}
	return exitInterrupted
}

// interruptible returns a context that the first SIGINT or SIGTERM cancels. A second signal has its default effect: it
// kills the process.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// interrupted is the error of a run that a signal ended. Its value describes the progress: "after 3 of 8 rows".
type interrupted string

func (e interrupted) Error() string {
	if e == "" {
		return "interrupted"
	}
	return "interrupted " + string(e)
}

func (interrupted) Unwrap() error { return context.Canceled }

// withProgress adds the progress of the run to the error of an interrupt. It returns other errors unchanged.
func withProgress(err error, format string, args ...any) error {
	if errors.Is(err, context.Canceled) {
		return interrupted(fmt.Sprintf(format, args...))
	}
	return err
}
