package local

import (
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/tracer"
)

// Stage is a trace as work in the form that a policy requires.
type Stage struct {
	Work
	Alone time.Duration // of the whole stage, alone on the device
}

// NewStage plans and cuts a trace, and measures the times of its units.
func NewStage(dev device.Device, trace *tracer.Trace, form sharing.Form) (*Stage, error) {
	ops, err := NewOps(dev, trace.Graph, traced.BindingsOf(trace))
	if err != nil {
		return nil, err
	}
	s := &Stage{Work: ops}
	for _, u := range ops.units {
		s.Alone += u.Time
	}
	return s, nil
}

// Close frees what NewStage has created.
func (s *Stage) Close() error { return nil }
