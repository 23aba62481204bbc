package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
)

// progress shows the progress of a run: as a bar on a terminal, or else as a line every progressEvery.
type progress struct {
	w    io.Writer
	unit string // what is counted: "replays"
	bar  *progressbar.ProgressBar
	last time.Time
}

// progressFunc receives the number of completed units, their total, and what is in progress.
type progressFunc = func(what string, done, total int)

// watched calls run and shows its progress. An interrupt cancels the context, at which run returns after the current
// replay or plan, with the results so far.
func watched[T any](c *cobra.Command, unit string, run func(context.Context, progressFunc) ([]T, error)) ([]T, error) {
	ctx, stop := interruptible(c.Context())
	defer stop()
	p := newProgress(c.ErrOrStderr(), unit)
	defer p.finish()
	return run(ctx, p.update)
}

// progressEvery is the interval of progress lines if the output is not a terminal.
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
	_ = p.bar.Set(done) // an error of drawing must not end the run
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
