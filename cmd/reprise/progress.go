package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress is a bar on a terminal, and elsewhere a line now and then.
type progress struct {
	w    io.Writer
	unit string // what is counted: "replays"
	bar  *progressbar.ProgressBar
	last time.Time
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
