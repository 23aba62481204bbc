package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
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

// watchedRows is watched for a run that hands over each row when it is complete. If the run does not return soon after an
// interrupt, because it is in the middle of a kernel, the rows so far are returned without it.
func watchedRows[T any](c *cobra.Command, unit string, run func(context.Context, progressFunc, func(T)) error) ([]T, error) {
	var mu sync.Mutex
	var rows []T
	add := func(row T) {
		mu.Lock()
		defer mu.Unlock()
		rows = append(rows, row)
	}
	_, err := watched(c, unit, func(ctx context.Context, update progressFunc) ([]T, error) {
		ended := make(chan error, 1)
		quiet := func(what string, done, total int) {
			if ctx.Err() == nil {
				update(what, done, total)
			}
		}
		go func() { ended <- run(ctx, quiet, add) }()
		select {
		case err := <-ended:
			return nil, err
		case <-ctx.Done():
		}
		select {
		case err := <-ended:
			return nil, err
		case <-time.After(endWithin / 2):
			return nil, ctx.Err()
		}
	})
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone(rows), err
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
