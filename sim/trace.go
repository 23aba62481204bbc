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
	if d.trace == nil {
		return
	}
	label := j.label
	if label == "" && j.kernel != nil {
		label = j.kernel.name
	}
	d.trace(Span{Kind: j.kind.String(), Label: label, Begin: duration(at.Begin), End: duration(at.End)})
}
