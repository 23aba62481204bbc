package calibrate

import (
	"context"
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/profiles"
)

// Options selects how to calibrate.
type Options struct {
	// Base supplies the figures that cannot be measured; nil means the known profile nearest to the device.
	Base *model.Profile
	// Progress, if not nil, is called before each measurement.
	Progress func(what string, done, total int)
}

// Result is the result of a calibration.
type Result struct {
	File *profiles.File
	Rows []Row // rows of the report: every figure, then values without a place in a profile
}

// parts lists the measurements. Each needs results of earlier ones.
var parts = []struct {
	name string
	run  func(*session) error
}{
	{"the clock", (*session).clock}, // also checks that the device computes
	{"driver calls", (*session).calls},
	{"graph calls", (*session).graphCalls},
	{"block starts", (*session).starts}, // needs the clock, like all below
	{"slots", (*session).slots},
	{"gaps", (*session).gaps},     // subtracts slots and calls
	{"copies", (*session).copies}, // subtracts gaps
	{"memory", (*session).memory},
	{"units", (*session).units},
}

// Run measures a device. It frees everything that it allocates. If ctx is done, it stops before the next sample.
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
			_ = s.close() // the first error is the relevant one
			return nil, err
		}
	}
	if err := s.close(); err != nil {
		return nil, err
	}
	return &Result{File: s.file, Rows: append(s.table(), s.rows...)}, nil
}

// Nearest returns the known profile with the generation of the device, or the default profile.
func Nearest(info device.Info) *model.Profile {
	list := profiles.All()
	for _, p := range list {
		if p.ComputeMajor == info.ComputeMajor {
			return p
		}
	}
	return list[0]
}

// describe sets the figures that the device reports.
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

// table returns a row for each figure.
func (s *session) table() (rows []Row) {
	for _, f := range profiles.Figures() {
		o := s.file.Origins[f.Name]
		rows = append(rows, Row{Name: f.Name, Value: f.Of(&s.file.Profile), Base: f.Of(s.base), Spread: o.Spread, From: o.From})
	}
	return rows
}
