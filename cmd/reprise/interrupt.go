package main

import (
	"context"
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
