package sim

import (
	"time"

	"github.com/reprise-gpu/reprise/internal/des"
)

// Span is when one piece of work ran on the device, on the virtual clock.
type Span struct {
	Kind       string // "launch", "copy", "memset", "host call", "nothing", "write", "read"
	Label      string // of a launch or host call; the kernel's name when the launch has none
	Begin, End time.Duration
}

// traceJob reports a job that has ended.
func (d *Device) traceJob(j *job, at des.Span) {
	if d.trace != nil {
		d.trace(Span{Kind: j.kind.String(), Label: j.title(), Begin: duration(at.Begin), End: duration(at.End)})
	}
}

// title is the label of a job; the kernel's name when a launch has none.
func (j *job) title() string {
	if j.label == "" && j.kernel != nil {
		return j.kernel.name
	}
	return j.label
}
