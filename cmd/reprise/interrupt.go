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

// endWithin is how long a command may take to end by itself after a signal, with what it has done so far.
const endWithin = 600 * time.Millisecond

// signalled is the signal that ends the process, 0 for none yet.
var signalled atomic.Int32

// endAtSignals ends the process soon after the first SIGINT or SIGTERM, whatever it does: a kernel, a plan, a read of
// standard input. A second signal kills it at once.
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

// statusOfSignal is the exit status of a process that a signal ended, as a shell reports it.
func statusOfSignal() int {
	if got := signalled.Load(); got != 0 {
		return 128 + int(got)
	}
	return exitInterrupted
}

// interruptible ends at the first SIGINT or SIGTERM. Without endAtSignals, a second one kills the process.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// interrupted is the error of a run that a signal ended: how far the run had come.
type interrupted string

func (e interrupted) Error() string {
	if e == "" {
		return "interrupted"
	}
	return "interrupted " + string(e)
}

func (interrupted) Unwrap() error { return context.Canceled }

// told has an interrupt say how far the run had come, and leaves other errors alone.
func told(err error, format string, args ...any) error {
	if errors.Is(err, context.Canceled) {
		return interrupted(fmt.Sprintf(format, args...))
	}
	return err
}
