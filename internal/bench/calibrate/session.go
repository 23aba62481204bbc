package calibrate

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/profiles"
)

// session is the state of a measurement.
type session struct {
	ctx  context.Context
	dev  device.Device
	info device.Info
	base *model.Profile
	file *profiles.File
	rows []Row

	module  device.Module
	kernels map[string]device.Function
	a, b    device.Stream
	begin   device.Event
	end     device.Event
	out     device.Ptr // outBytes, for results of kernels
	spare   device.Ptr // the same, for unused results

	pace      int     // iterations of the kernel that keeps the device busy
	iteration float64 // ns per iteration
	tick      int64   // ns; greatest common divisor of all device times so far
	cycle     float64 // ns
	alu       float64 // ns per integer instruction of a warp on a multiprocessor

	undo []func() error
}

const (
	blockThreads = 1024
	outBytes     = 4 * blockThreads
)

func newSession(ctx context.Context, dev device.Device, base *model.Profile) (*session, error) {
	s := &session{
		ctx: ctx, dev: dev, info: dev.Info(), base: base, kernels: map[string]device.Function{}, pace: 16,
		file: profiles.NewFile(base, "taken over from "+base.ID),
	}
	s.file.Profile.ID = "" // set when the profile is read from a file
	err := s.open()
	if err != nil {
		_ = s.close() // the first error is the relevant one
		return nil, err
	}
	return s, nil
}

func (s *session) open() (err error) {
	if s.module, err = s.dev.LoadModule("calibrate.ptx", modulePTX(s.info.ComputeMajor, s.info.ComputeMinor)); err != nil {
		return err
	}
	s.later(func() error { return s.dev.UnloadModule(s.module) })
	if s.a, err = s.stream(); err != nil {
		return err
	}
	if s.b, err = s.stream(); err != nil {
		return err
	}
	if s.begin, err = s.event(); err != nil {
		return err
	}
	if s.end, err = s.event(); err != nil {
		return err
	}
	if s.out, err = s.alloc(outBytes); err != nil {
		return err
	}
	s.spare, err = s.alloc(outBytes)
	return err
}

func (s *session) later(f func() error) { s.undo = append(s.undo, f) }

// release frees the resources beyond the first n. It returns err, or the first error of freeing.
func (s *session) release(n int, err error) error {
	for len(s.undo) > n {
		last := len(s.undo) - 1
		failed := s.undo[last]()
		if s.undo = s.undo[:last]; err == nil {
			err = failed
		}
	}
	return err
}

func (s *session) close() error { return s.release(0, nil) }

func (s *session) stream() (device.Stream, error) {
	h, err := s.dev.CreateStream(0)
	if err == nil {
		s.later(func() error { return s.dev.DestroyStream(h) })
	}
	return h, err
}

func (s *session) event() (device.Event, error) {
	h, err := s.dev.CreateEvent()
	if err == nil {
		s.later(func() error { return s.dev.DestroyEvent(h) })
	}
	return h, err
}

func (s *session) alloc(bytes int64) (device.Ptr, error) {
	p, err := s.dev.Alloc(bytes)
	if err == nil {
		s.later(func() error { return s.dev.Free(p) })
	}
	return p, err
}

func (s *session) allocHost(bytes int64) (device.Ptr, error) {
	p, _, err := s.dev.AllocHost(bytes)
	if err == nil {
		s.later(func() error { return s.dev.Free(p) })
	}
	return p, err
}

// launch returns a launch of a kernel of the module.
func (s *session) launch(name string, grid, block uint32, params ...any) (*device.Launch, error) {
	f, ok := s.kernels[name]
	if !ok {
		var err error
		if f, err = s.dev.Function(s.module, name); err != nil {
			return nil, err
		}
		s.kernels[name] = f
	}
	return &device.Launch{
		Function: f, Grid: device.Dim3{X: grid, Y: 1, Z: 1}, Block: device.Dim3{X: block, Y: 1, Z: 1},
		Params: pack(params), Label: name,
	}, nil
}

// pack lays parameters out at their natural alignment.
func pack(params []any) (b []byte) {
	for _, v := range params {
		if p, ok := v.(device.Ptr); ok {
			v = uint64(p)
		}
		for len(b)%binary.Size(v) != 0 {
			b = append(b, 0)
		}
		b, _ = binary.Append(b, binary.LittleEndian, v) // numbers only
	}
	return b
}

// now returns the host's clock in ns.
func (s *session) now() float64 { return float64(s.dev.Now()) / float64(time.Nanosecond) }

// times submits a sequence of works to a stream n times.
func (s *session) times(stream device.Stream, n int, works ...device.Work) error {
	for range n {
		for _, w := range works {
			if err := s.dev.Submit(stream, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// longestPace is the maximum time for which the device is kept busy, in ns.
const longestPace = 2e9

// paced returns the device time, in ns, of the work that enqueue enqueues, which must end in stream a. The device is
// kept busy until all is enqueued. If enqueuing took longer than expected, the measurement is repeated with a longer
// pace.
func (s *session) paced(enqueue func() error) (float64, error) {
	for {
		if err := s.ctx.Err(); err != nil {
			return 0, err
		}
		busy, err := s.launch("rate_fp32", 1, 32, s.spare, uint32(s.pace), uint32(1), uint32(1), uint32(1), uint32(1))
		if err != nil {
			return 0, err
		}
		start := s.now()
		if err := first(func() error { return s.dev.Submit(s.a, busy) }, func() error { return s.dev.Record(s.begin, s.a) },
			enqueue, func() error { return s.dev.Record(s.end, s.a) }); err != nil {
			return 0, err
		}
		took := s.now() - start
		if err := s.dev.Synchronize(s.a); err != nil {
			return 0, err
		}
		if lasts := float64(s.pace) * s.iteration; took < 0.8*lasts || s.iteration == 0 {
			d, err := s.dev.Elapsed(s.begin, s.end)
			s.tick = gcd(s.tick, int64(d))
			return float64(d), err
		} else if lasts > longestPace {
			return 0, fmt.Errorf("the host took %.0f ms to enqueue a few hundred calls; calibrate on a machine that is not busy", took/1e6)
		}
		s.pace *= 2
	}
}

// first runs functions up to the first that fails.
func first(fs ...func() error) error {
	for _, f := range fs {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// repeat takes samples until they agree. It drops a first sample, which has cold caches and loads code.
func (s *session) repeat(sample func() (float64, error)) (Estimate, error) {
	var samples []float64
	for i := 0; ; i++ {
		if err := s.ctx.Err(); err != nil {
			return Estimate{}, err
		}
		v, err := sample()
		if err != nil {
			return Estimate{}, err
		}
		if i == 0 {
			continue
		}
		samples = append(samples, v)
		if e := estimate(samples); len(samples) >= fewSamples && e.Spread <= agreement || len(samples) >= manySamples {
			return e, nil
		}
	}
}

// gcd is the greatest common divisor; that of 0 and n is n.
func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// enoughTicks is the least difference, in ticks of the device's clock, that is measured. The ticks of events are half
// a microsecond on some devices.
const enoughTicks = 50

// slope returns the slope of f. If the samples do not agree, or differ by too few ticks of the clock, the arguments
// are increased up to most.
func (s *session) slope(lo, hi, most int, f func(n int) (float64, error)) (Estimate, error) {
	for {
		e, err := s.repeat(func() (float64, error) {
			below, err := f(lo)
			if err != nil {
				return 0, err
			}
			above, err := f(hi)
			return (above - below) / float64(hi-lo), err
		})
		far := e.Value*float64(hi-lo) >= float64(enoughTicks*s.tick)
		if err != nil || far && e.Spread <= 5*agreement || 4*hi > most {
			return e, err
		}
		lo, hi = 4*lo, 4*hi
	}
}
