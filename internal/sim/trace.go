package sim

import (
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/internal/des"
)

// Span is the time in which one piece of work ran on the device, in virtual time.
type Span struct {
	Kind       string // "launch", "copy", "memset", "host call", "nothing", "write", "read"; "if", "while", "switch" for a decision
	Label      string // of a launch or host call; the kernel's name for a launch without a label
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

// describe returns the kind and the name of a task in time lines, "" for a marker. Work in a loop has the number of
// the iteration, from 1, after its name.
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

// title returns the label of a job, or the kernel's name for a launch without a label.
func (j *job) title() string {
	if j.label == "" && j.kernel != nil {
		return j.kernel.name
	}
	return j.label
}
