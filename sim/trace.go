package sim

import (
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/internal/des"
)

// Span is when one piece of work ran on the device, on the virtual clock.
type Span struct {
	Kind       string // "launch", "copy", "memset", "host call", "nothing", "write", "read"; "if", "while", "switch" of a decision
	Label      string // of a launch or host call; the kernel's name when the launch has none
	Begin, End time.Duration
}

// traceTask reports a task that has ended.
func (d *Device) traceTask(data any, at des.Span) {
	if d.trace != nil {
		if kind, name := describe(data); kind != "" {
			d.trace(Span{Kind: kind, Label: name, Begin: duration(at.Begin), End: duration(at.End)})
		}
	}
}

// describe is what time lines call a task, "" for a marker. What a loop repeats has
// the number of the iteration, from 1, behind its name.
func describe(data any) (kind, name string) {
	switch v := data.(type) {
	case *job:
		return v.kind.String(), v.title()
	case *nested:
		return v.kind.String(), strings.TrimSpace(v.title() + v.in.iteration())
	case *visit:
		return v.job.choice.kind.String(), strings.TrimSpace(v.job.label + v.at.in.iteration())
	}
	return "", ""
}

// title is the label of a job; the kernel's name when a launch has none.
func (j *job) title() string {
	if j.label == "" && j.kernel != nil {
		return j.kernel.name
	}
	return j.label
}
