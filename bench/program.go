package bench

import (
	"fmt"
	"slices"
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

	travellers []tracer.Buffer // managed memory that comes to the device in every replay
}

func newProgram(dev device.Device, name string, p Params) *program {
	return &program{Tracer: tracer.New(dev, name, tracer.Deferred), dev: dev, params: p}
}

// Alloc has temporaries where the C++ programs have them, which allocate everything in this
// order: which lines of L1 displace each other is a matter of addresses.
func (t *program) Alloc(name string, elem ir.Type, n int64, role ir.Role) tracer.Buffer {
	t.Helper()
	b := t.Tracer.Alloc(name, elem, n, role)
	b.Allocate()
	return b
}

// array is data that the host writes or reads.
type array struct {
	dev  tracer.Buffer // what kernels take
	host tracer.Buffer // where the host finds it: its twin in pinned memory, or the same when it is managed
}

func (a array) managed() bool { return a.dev == a.host }

// transferred allocates an array that travels as the memory mode says.
func (t *program) transferred(name string, elem ir.Type, n int64, role ir.Role) array {
	t.Helper()
	if t.params.Memory == Pinned {
		return t.twinned(name, elem, n, role)
	}
	b := t.AllocManaged(name, elem, n, role)
	return array{b, b}
}

// twinned allocates an array that is copied in every memory mode.
func (t *program) twinned(name string, elem ir.Type, n int64, role ir.Role) array {
	t.Helper()
	return array{
		dev:  t.Alloc(name, elem, n, role),
		host: t.AllocHost(name+"_host", elem, n, role),
	}
}

// upload brings an array to the device, unless the kernels are to fetch it.
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

// prefetch brings managed memory that the host has written to the device ahead of its
// use, in the mode of that name; memory with a twin needs none.
func (t *program) prefetch(a array) {
	t.Helper()
	if a.managed() {
		t.upload(a)
	}
}

// download brings an array to the host, if it has a twin there.
func (t *program) download(a array) {
	t.Helper()
	if !a.managed() {
		t.Copy(a.host, a.dev)
	}
}

// kernel loads the PTX of a benchmark kernel into the trace; a signature may claim more
// than it does.
func (t *program) kernel(name string, signature ...string) *tracer.Kernel {
	k, ok := kernels.Lookup(name)
	if !ok {
		panic("BUG: no kernel " + name)
	}
	return t.Module(k.File, k.PTX).Kernel(name, signature...)
}

// proof is what makes a replay more than a span of time. D is what replays start from and
// should end in.
type proof[D any] struct {
	data  func() D      // makes it, when it is first needed: tracing alone needs none
	load  func(D) error // writes what stays on the device, before the first reset; nil when nothing does
	reset func(D) error
	check func(D) (maxError float64, err error)
	hash  func(D) uint64

	// On a sampled device none of these is called. steer stands for load there: it
	// writes what steers addresses or loops, and nothing else.
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

// after is reset, with load before the first if there is one.
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

// sendHome brings managed memory that comes to the device in every replay back to the
// host. What is copied travels without.
func (t *program) sendHome() error {
	for _, b := range t.travellers {
		if err := b.ToHost(); err != nil {
			return t.inReset(err)
		}
	}
	return nil
}

// refill sets an array where the host finds it, and poisons what is to become of it on
// the device.
func refill[T tracer.Element](t *program, a array, data []T) error {
	if err := tracer.Write(a.host, data); err != nil || a.managed() {
		return err
	}
	return t.poison(a.dev)
}

// poison sets every byte of whole buffers, which makes floats of any width NaN. The
// device does it to its own memory, ten times as fast as the host could; managed memory
// goes there for that.
func (t *program) poison(buffers ...tracer.Buffer) error {
	var err error
	if t.stream == 0 {
		if t.stream, err = t.dev.CreateStream(0); err != nil {
			return t.inReset(err)
		}
	}
	for i, b := range buffers {
		if !slices.Contains(buffers[:i], b) { // the twins of a managed array are one
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

// poisonHome poisons an array and leaves it where the host finds it.
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

// prefetches is the first major compute capability whose memory can be prefetched.
const prefetches = 6

// inReset says which program's reset an error is of.
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
