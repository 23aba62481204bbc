package calibrate

import (
	"context"
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
)

// Options says how to calibrate.
type Options struct {
	// Base is where figures are taken over from that cannot be measured; nil is
	// the known profile nearest to the device.
	Base *model.Profile
	// Progress, when set, is told what is measured next.
	Progress func(what string, done, total int)
}

// Result is what a calibration found.
type Result struct {
	File *model.File
	Rows []Row // of the report: every figure, then what has no place in a profile
}

// parts are what is measured, in an order in which each finds what it needs.
var parts = []struct {
	name string
	run  func(*session) error
}{
	{"the clock", (*session).clock}, // and whether the device computes
	{"driver calls", (*session).calls},
	{"graph calls", (*session).graphCalls},
	{"block starts", (*session).starts}, // needs the clock, as all below
	{"gaps", (*session).gaps},           // takes off block starts and calls
	{"copies", (*session).copies},       // takes off gaps
	{"memory", (*session).memory},
	{"units", (*session).units},
}

// Run measures a device. It leaves nothing on it. When the context ends it stops at the
// next sample.
func Run(ctx context.Context, dev device.Device, o Options) (*Result, error) {
	if o.Base == nil {
		o.Base = Nearest(dev.Info())
	}
	s, err := newSession(ctx, dev, o.Base)
	if err != nil {
		return nil, err
	}
	s.describe()
	for i, p := range parts {
		if o.Progress != nil {
			o.Progress(p.name, i, len(parts))
		}
		if err := p.run(s); err != nil {
			_ = s.close() // the first error is the one that tells
			return nil, err
		}
	}
	if err := s.close(); err != nil {
		return nil, err
	}
	return &Result{File: s.file, Rows: append(s.table(), s.rows...)}, nil
}

// Nearest is the known profile of the same generation as a device, or the default.
func Nearest(info device.Info) *model.Profile {
	list := model.Profiles()
	for _, p := range list {
		if p.ComputeMajor == info.ComputeMajor {
			return p
		}
	}
	return list[0]
}

// describe takes what the device tells of itself.
func (s *session) describe() {
	p := &s.file.Profile
	p.Name, p.ComputeMajor, p.ComputeMinor = s.info.Name, s.info.ComputeMajor, s.info.ComputeMinor
	s.file.About = fmt.Sprintf("%s (%s), measured; what could not be measured is from %s", s.info.Name, s.info.ID, s.base.ID)
	if s.info.Simulated {
		s.file.About = "simulated: " + s.file.About
	}
	s.report("multiprocessors", float64(s.info.Multiprocessors))
	s.report("memory_bytes", float64(s.info.MemoryBytes))
	s.report("memory_gbps", s.info.MemoryGBps)
	s.report("l2_bytes", float64(s.info.L2Bytes))
	s.report("threads_per_block", float64(s.info.MaxThreads))
	s.report("shared_bytes_per_block", float64(s.info.MaxShared))
}

// table is a row for each figure.
func (s *session) table() (rows []Row) {
	for _, f := range model.Figures() {
		o := s.file.Origins[f.Name]
		rows = append(rows, Row{Name: f.Name, Value: f.Of(&s.file.Profile), Base: f.Of(s.base), Spread: o.Spread, From: o.From})
	}
	return rows
}
