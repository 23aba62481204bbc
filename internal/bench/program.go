package bench

import (
	"fmt"
	"slices"
	"sync"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// program is a workload being traced: a tracer that moves data as the memory mode requires.
type program struct {
	*tracer.Tracer
	dev    device.Device
	params Params
	trace  *tracer.Trace // set by finish
	stream device.Stream // for work of Reset; created on first use

	kept       []tracer.Buffer // whose contents outlive a replay
	travellers []tracer.Buffer // managed memory that moves to the device in every replay
}

func newProgram(dev device.Device, name string, p Params) *program {
	return &program{Tracer: tracer.New(dev, name, tracer.Deferred), dev: dev, params: p}
}

// Alloc allocates temporaries in the order of the C++ programs, which allocate all arrays in this order. Addresses
// matter, because they determine which lines evict each other from L1.
func (t *program) Alloc(name string, elem ir.Type, n int64, role ir.Role) tracer.Buffer {
	t.Helper()
	b := t.Tracer.Alloc(name, elem, n, role)
	traced.Allocate(b)
	return t.keep(b)
}

// array is data that the host writes or reads.
type array struct {
	dev  tracer.Buffer // for kernels
	host tracer.Buffer // for the host: a copy in pinned memory, or the same managed memory
}

func (a array) managed() bool { return a.dev == a.host }

// transferred allocates an array that moves as the memory mode requires.
func (t *program) transferred(name string, elem ir.Type, n int64, role ir.Role) array {
	t.Helper()
	if t.params.Memory == Pinned {
		return t.twinned(name, elem, n, role)
	}
	b := t.keep(t.AllocManaged(name, elem, n, role))
	return array{b, b}
}

// twinned allocates an array that is copied in every memory mode.
func (t *program) twinned(name string, elem ir.Type, n int64, role ir.Role) array {
	t.Helper()
	return array{
		dev:  t.Alloc(name, elem, n, role),
		host: t.keep(t.AllocHost(name+"_host", elem, n, role)),
	}
}

// upload copies or prefetches an array to the device, unless kernels fault it in.
func (t *program) upload(a array) {
	t.Helper()
	if !a.managed() {
		t.Copy(a.dev, a.host)
		return
	}
	t.travellers = append(t.travellers, a.dev)
	if t.params.Memory == Prefetch {
		t.Tracer.Prefetch(a.dev, true)
	}
}

// prefetch prefetches managed memory that the host has written, in mode Prefetch. Memory with a copy needs none.
func (t *program) prefetch(a array) {
	t.Helper()
	if a.managed() {
		t.upload(a)
	}
}

// download copies an array to the host if it has a copy there.
func (t *program) download(a array) {
	t.Helper()
	if !a.managed() {
		t.Copy(a.host, a.dev)
	}
}

// kernel loads the PTX of a benchmark kernel into the trace. A signature may declare more accesses than it makes.
func (t *program) kernel(name string, signature ...string) *tracer.Kernel {
	k, ok := kernels.Lookup(name)
	if !ok {
		panic("BUG: no kernel " + name)
	}
	return t.Module(k.File, k.PTX).Kernel(name, signature...)
}

// proof holds the functions that make a replay's result checkable. D is the type of the inputs and expected results.
type proof[D any] struct {
	data  func() D      // computes the data on first use; tracing alone does not need them
	load  func(D) error // writes data that stay on the device, before the first reset; may be nil
	reset func(D) error
	check func(D) (maxError float64, err error)
	hash  func(D) uint64

	// On a sampled device only steer is called, in place of load: it writes the data that determine addresses or
	// loops.
	steer func() error
}

// finish ends the trace.
func finish[D any](t *program, p proof[D]) (_ *Instance, err error) {
	if t.trace, err = t.Finish(); err != nil {
		return nil, err
	}
	in := &Instance{Params: t.params, Trace: t.trace, program: t}
	if t.params.Sampled {
		in.Reset = after(p.steer, t.sendHome)
		in.Check = func() (float64, error) { return 0, nil }
		in.InputHash = func() uint64 { return 0 }
		return in, nil
	}
	data := sync.OnceValue(p.data)
	var load func() error
	if p.load != nil {
		load = func() error { return p.load(data()) }
	}
	in.Reset = after(load, func() error { return p.reset(data()) })
	in.Check = func() (float64, error) { return p.check(data()) }
	in.InputHash = func() uint64 { return p.hash(data()) }
	return in, nil
}

// after returns reset, preceded by load in the first call.
func after(load, reset func() error) func() error {
	if load == nil {
		return reset
	}
	load = sync.OnceValue(load)
	return func() error {
		if err := load(); err != nil {
			return err
		}
		return reset()
	}
}

// sendHome moves managed memory that moves to the device in every replay back to the host. Arrays with copies need no
// move.
func (t *program) sendHome() error {
	for _, b := range t.travellers {
		if err := b.ToHost(); err != nil {
			return t.inReset(err)
		}
	}
	return nil
}

// refill writes an array on the host, and poisons its copy on the device.
func refill[T tracer.Element](t *program, a array, data []T) error {
	if err := tracer.Write(a.host, data); err != nil || a.managed() {
		return err
	}
	return t.poison(a.dev)
}

// poison sets every byte of whole buffers so that floats of any width are NaN. The device does this itself, ten times
// faster than the host; managed memory moves there for it.
func (t *program) poison(buffers ...tracer.Buffer) error {
	var err error
	if t.stream == 0 {
		if t.stream, err = t.dev.CreateStream(0); err != nil {
			return t.inReset(err)
		}
	}
	for i, b := range buffers {
		if !slices.Contains(buffers[:i], b) { // both parts of a managed array are the same buffer
			err = firstError(err, t.fill(b))
		}
	}
	return t.inReset(firstError(err, t.dev.Synchronize(t.stream)))
}

func (t *program) fill(b tracer.Buffer) error {
	at, managed := t.trace.Pointer(b.ID()), t.trace.Graph.Buffers[b.ID()].Place.Kind == ir.Managed
	switch {
	case at == 0:
		return nil // a temporary without memory
	case managed && t.dev.Info().ComputeMajor >= prefetches:
		if err := t.dev.Submit(t.stream, &device.Prefetch{At: at, Bytes: b.Bytes(), ToDevice: true, Label: "poison"}); err != nil {
			return err
		}
	case !managed && b.HostBytes() != nil:
		spoil(b.HostBytes())
		return nil
	}
	return t.dev.Submit(t.stream, &device.Memset{Dst: at, Value: 0xff, Width: 1, Count: b.Bytes(), Label: "poison"})
}

// poisonHome poisons an array and moves it to the host.
func (t *program) poisonHome(a array) error {
	if !a.managed() {
		return t.poison(a.dev, a.host)
	}
	if err := a.host.ToHost(); err != nil {
		return t.inReset(err)
	}
	spoil(a.host.HostBytes())
	return nil
}

func spoil(host []byte) {
	for i := range host {
		host[i] = 0xff
	}
}

// prefetches is the first major compute capability with prefetching.
const prefetches = 6

// inReset adds the name of the program to an error of Reset.
func (t *program) inReset(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("reset of %s: %w", t.trace.Graph.Name, err)
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

// shapes collects launch shapes, and the first error of a kernel's rule.
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
