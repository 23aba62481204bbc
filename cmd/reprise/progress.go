package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
)

// progress is a bar on a terminal, and elsewhere a line now and then.
type progress struct {
	w    io.Writer
	unit string // what is counted: "replays"
	bar  *progressbar.ProgressBar
	last time.Time
}

// progressFunc is told how many of all are done, and what is under way.
type progressFunc = func(what string, done, total int)

// watched runs something long and shows how far it is. An interrupt ends it, at the next replay
// or plan, and what is done is kept.
func watched[T any](c *cobra.Command, unit string, run func(context.Context, progressFunc) ([]T, error)) ([]T, error) {
	ctx, stop := interruptible(c.Context())
	defer stop()
	p := newProgress(c.ErrOrStderr(), unit)
	defer p.finish()
	return run(ctx, p.update)
}

// progressEvery is how often a run that nobody watches says where it is.
const progressEvery = 10 * time.Second

func newProgress(w io.Writer, unit string) *progress {
	return &progress{w: w, unit: unit, last: time.Now()}
}

func (p *progress) update(what string, done, total int) {
	if !isTerminal(p.w) {
		if time.Since(p.last) >= progressEvery {
			p.last = time.Now()
			fmt.Fprintf(p.w, "reprise: %d of %d %s, %s\n", done, total, p.unit, what)
		}
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetWidth(30),
			progressbar.OptionShowCount(),
			progressbar.OptionClearOnFinish())
	}
	p.bar.Describe(what)
	_ = p.bar.Set(done) // a bar that cannot be drawn must not end the run
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
