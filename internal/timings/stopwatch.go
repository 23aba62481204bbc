package timings

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/reprise-gpu/reprise/device"
)

//go:embed cover.ptx
var coverPTX string

// Passes of the cover kernel, of some 40 ns each on current GPUs.
const (
	firstPasses = 1 << 8
	maxPasses   = 1 << 24 // half a second
)

// stopwatch measures the device time of work. A kernel covers the time in which the host enqueues the work, so that the
// device does not wait for the host within the measured time:
//
//	host    idle cover begin work end ──── wait
//	device      [idle]cover──────────[begin]work──────[end]
type stopwatch struct {
	dev              device.Device
	stream           device.Stream
	idle, begin, end device.Event
	cover            *device.Launch
	passes           uint32
	undo             []func() error
}

func newStopwatch(dev device.Device) (*stopwatch, error) {
	s := &stopwatch{dev: dev, passes: firstPasses}
	if err := s.open(); err != nil {
		return nil, device.Join(err, s.close())
	}
	return s, nil
}

func (s *stopwatch) open() (err error) {
	if s.stream, err = s.dev.CreateStream(0); err != nil {
		return err
	}
	s.later(func() error { return s.dev.DestroyStream(s.stream) })
	for _, e := range []*device.Event{&s.idle, &s.begin, &s.end} {
		if *e, err = s.dev.CreateEvent(); err != nil {
			return err
		}
		s.later(func() error { return s.dev.DestroyEvent(*e) })
	}
	m, err := s.dev.LoadModule("cover.ptx", coverPTX)
	if err != nil {
		return err
	}
	s.later(func() error { return s.dev.UnloadModule(m) })
	out, err := s.dev.Alloc(4)
	if err != nil {
		return err
	}
	s.later(func() error { return s.dev.Free(out) })
	f, err := s.dev.Function(m, "cover")
	one := device.Dim3{X: 1, Y: 1, Z: 1}
	s.cover = &device.Launch{Function: f, Grid: one, Block: one, Params: binary.LittleEndian.AppendUint64(nil, uint64(out)), Label: "cover"}
	return err
}

func (s *stopwatch) later(f func() error) { s.undo = append(s.undo, f) }

// close waits for the work and frees all resources.
func (s *stopwatch) close() error {
	var errs []error
	for i := len(s.undo) - 1; i >= 0; i-- {
		errs = append(errs, s.undo[i]())
	}
	s.undo = nil
	return device.Join(errs...)
}

// coverParams returns the parameters of the cover kernel, after the address of its output: passes, and factors with which
// the chain keeps its value.
func (s *stopwatch) coverParams() []byte {
	b := binary.LittleEndian.AppendUint32(s.cover.Params[:8:8], s.passes)
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(1))
	return binary.LittleEndian.AppendUint32(b, 0)
}

// errNoTime is the error of a device whose work takes no time.
var errNoTime = errors.New("work takes no time on the device: use a device that runs kernels")

// time runs work once and returns the time from the end of the work before it in a stream to its own end. It is not ok if
// the host enqueued the work too late; the next cover is then longer. The parts of the time that the stream takes between
// two pieces of work, and the record of an event, are included.
func (s *stopwatch) time(w device.Work) (took time.Duration, ok bool, err error) {
	cover := *s.cover
	cover.Params = s.coverParams()
	if err := s.dev.Record(s.idle, s.stream); err != nil {
		return 0, false, err
	}
	start := s.dev.Now()
	if err := s.enqueue(&cover, w); err != nil {
		return 0, false, err
	}
	enqueuing := s.dev.Now() - start
	if err := s.dev.Synchronize(s.stream); err != nil {
		return 0, false, err
	}
	covered, err := s.dev.Elapsed(s.idle, s.begin)
	if err != nil {
		return 0, false, err
	}
	took, err = s.dev.Elapsed(s.begin, s.end)
	switch {
	case err != nil:
	case enqueuing < covered:
		ok = true
	case s.passes >= maxPasses:
		err = errNoTime
	default:
		s.passes *= 2
	}
	return took, ok, err
}

// enqueue submits a cover and work, with an event before and one after the work.
func (s *stopwatch) enqueue(cover, w device.Work) error {
	if err := s.dev.Submit(s.stream, cover); err != nil {
		return err
	}
	if err := s.dev.Record(s.begin, s.stream); err != nil {
		return err
	}
	if err := s.dev.Submit(s.stream, w); err != nil {
		return err
	}
	return s.dev.Record(s.end, s.stream)
}
