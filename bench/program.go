package bench

import (
	"fmt"
	"sync"

	"github.com/reprise-gpu/reprise/cuda/kernels"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// program is a workload as it is traced: a tracer that knows how data travel in
// the memory mode asked for.
type program struct {
	*tracer.Tracer
	dev    device.Device
	params Params
	trace  *tracer.Trace // when it is finished
	stream device.Stream // of what Reset does on the device; made when first needed
}

func newProgram(dev device.Device, name string, p Params) *program {
	return &program{Tracer: tracer.New(dev, name, tracer.Deferred), dev: dev, params: p}
}

// array is data that the host writes or reads.
type array struct {
	dev  tracer.Buffer // what kernels take
	host tracer.Buffer // where the host finds it: its twin in pinned memory
}

// transferred allocates an array that travels as the memory mode says.
func (t *program) transferred(name string, elem ir.Type, n int64, role ir.Role) array {
	return t.twinned(name, elem, n, role)
}

// twinned allocates an array that is copied in every memory mode.
func (t *program) twinned(name string, elem ir.Type, n int64, role ir.Role) array {
	return array{
		dev:  t.Alloc(name, elem, n, role),
		host: t.AllocHost(name+"_host", elem, n, role),
	}
}

// upload brings an array to the device, unless the kernels are to fetch it.
func (t *program) upload(a array) {
	t.Helper()
	t.Copy(a.dev, a.host)
}

// download brings an array to the host, if a program in this mode would.
func (t *program) download(a array) {
	t.Helper()
	t.Copy(a.host, a.dev)
}

// kernel loads the PTX of a benchmark kernel into the trace.
func (t *program) kernel(name string) *tracer.Kernel {
	k, ok := kernels.Lookup(name)
	if !ok {
		panic("BUG: no kernel " + name)
	}
	return t.Module(k.File, k.PTX).Kernel(name)
}

// proof is what makes a replay more than a span of time.
type proof struct {
	load  func() error // writes what stays on the device, before the first reset; nil when nothing does
	reset func() error
	check func() (maxError float64, err error)
	hash  func() uint64

	// On a sampled device none of these is called. steer stands for load there: it
	// writes what steers addresses or loops, and nothing else.
	steer func() error
}

// finish ends the trace.
func (t *program) finish(p proof) (_ *Instance, err error) {
	if t.trace, err = t.Finish(); err != nil {
		return nil, err
	}
	if t.params.Sampled {
		p = proof{
			load:  p.steer,
			reset: t.sendHome,
			check: func() (float64, error) { return 0, nil },
			hash:  func() uint64 { return 0 },
		}
	}
	return &Instance{Params: t.params, Trace: t.trace, Reset: p.resetter(), Check: p.check, InputHash: p.hash, program: t}, nil
}

// resetter is reset, with load before the first.
func (p *proof) resetter() func() error {
	if p.load == nil {
		return p.reset
	}
	load := sync.OnceValue(p.load)
	return func() error {
		if err := load(); err != nil {
			return err
		}
		return p.reset()
	}
}

// sendHome brings arrays that travel to the device in every replay back to where they
// travel from; copies leave them there.
func (t *program) sendHome() error { return nil }

// refill sets an array where the host finds it, and poisons what is to become of it on
// the device.
func refill[T tracer.Element](t *program, a array, data []T) error {
	if err := tracer.Write(a.host, data); err != nil {
		return err
	}
	return t.poison(a.dev)
}

// poison sets every byte of whole buffers, which makes floats of any width NaN. The
// device does it to its own memory, ten times as fast as the host could.
func (t *program) poison(buffers ...tracer.Buffer) error {
	if err := t.fill(buffers); err != nil {
		return fmt.Errorf("reset of %s: %w", t.trace.Graph.Name, err)
	}
	return nil
}

func (t *program) fill(buffers []tracer.Buffer) (err error) {
	if t.stream == 0 {
		if t.stream, err = t.dev.CreateStream(0); err != nil {
			return err
		}
	}
	for _, b := range buffers {
		if host := b.HostBytes(); host != nil {
			for i := range host {
				host[i] = 0xff
			}
			continue
		}
		w := &device.Memset{Dst: t.trace.Pointer(b.ID()), Value: 0xff, Width: 1, Count: b.Bytes(), Label: "poison"}
		if err := t.dev.Submit(t.stream, w); err != nil {
			return err
		}
	}
	return t.dev.Synchronize(t.stream)
}

func (t *program) close() error {
	if t.stream == 0 {
		return nil
	}
	stream := t.stream
	t.stream = 0
	if err := t.dev.DestroyStream(stream); err != nil {
		return fmt.Errorf("close %s: %w", t.trace.Graph.Name, err)
	}
	return nil
}

// shapes collects launch shapes, and the first complaint of a kernel's rule for them.
type shapes struct{ err error }

func (s *shapes) add(shape kernels.Shape, err error) tracer.Shape {
	if s.err == nil {
		s.err = err
	}
	return tracer.Shape(shape)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
