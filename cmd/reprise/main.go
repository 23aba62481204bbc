// Reprise traces GPU work once, plans it and replays it many times. This is its
// command-line tool: benchmarks, saved traces, and a look into kernels.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// The first interrupt ends the run at the next replay and keeps what was
	// measured; a second one kills the process.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
