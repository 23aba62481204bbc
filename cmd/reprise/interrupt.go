package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// interruptible ends at the first interrupt, which a run sees after its next
// replay. A second interrupt kills the process.
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
