// Package tenancytest runs random programs for random tenants, on any device.
package tenancytest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/tenancy"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// kernelsPTX has kernels that depend on everything that a rewrite changes: mix on all extents and indices of the grid, turn
// on shared memory and a barrier, count on atomics.
const kernelsPTX = `.version 6.0
.target sm_60
.address_size 64

// mix: y[i] = a x[i] + block, i = 64 block + thread, block = (z ny + y) nx + x, for i < n
.visible .entry mix(.param .u64 x, .param .u64 y, .param .u32 n, .param .f32 a)
{
	.reg .pred %p;
	.reg .b32 %r<8>;
	.reg .f32 %f<3>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd0, [x];
	ld.param.u64 %rd1, [y];
	ld.param.u32 %r0, [n];
	ld.param.f32 %f0, [a];
	mov.u32 %r1, %ctaid.z;
	mov.u32 %r2, %nctaid.y;
	mov.u32 %r3, %ctaid.y;
	mad.lo.u32 %r1, %r1, %r2, %r3;
	mov.u32 %r2, %nctaid.x;
	mov.u32 %r3, %ctaid.x;
	mad.lo.u32 %r1, %r1, %r2, %r3;
	mov.u32 %r4, %tid.x;
	mad.lo.u32 %r5, %r1, 64, %r4;
	setp.ge.u32 %p, %r5, %r0;
	@%p bra done;
	mul.wide.u32 %rd2, %r5, 4;
	add.s64 %rd3, %rd0, %rd2;
	ld.global.f32 %f1, [%rd3];
	cvt.rn.f32.u32 %f2, %r1;
	fma.rn.f32 %f1, %f1, %f0, %f2;
	add.s64 %rd3, %rd1, %rd2;
	st.global.f32 [%rd3], %f1;
done:
	ret;
}

// turn: y is x with each block of 64 elements reversed; n is a multiple of 64
.visible .entry turn(.param .u64 x, .param .u64 y)
{
	.shared .align 4 .b8 tile[256];
	.reg .b32 %r<8>;
	.reg .f32 %f<2>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd0, [x];
	ld.param.u64 %rd1, [y];
	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, %tid.x;
	mad.lo.u32 %r2, %r0, 64, %r1;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd0, %rd2;
	ld.global.f32 %f0, [%rd3];
	mov.u32 %r3, tile;
	sub.u32 %r4, 63, %r1;
	mad.lo.u32 %r5, %r4, 4, %r3;
	st.shared.f32 [%r5], %f0;
	bar.sync 0;
	mad.lo.u32 %r6, %r1, 4, %r3;
	ld.shared.f32 %f1, [%r6];
	add.s64 %rd4, %rd1, %rd2;
	st.global.f32 [%rd4], %f1;
	ret;
}

// count: adds the low 4 bits of the words of x to words of y; y has 16 words
.visible .entry count(.param .u64 x, .param .u64 y, .param .u32 n)
{
	.reg .pred %p;
	.reg .b32 %r<6>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd0, [x];
	ld.param.u64 %rd1, [y];
	ld.param.u32 %r0, [n];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r3, %r1, 64, %r2;
	setp.ge.u32 %p, %r3, %r0;
	@%p bra done;
	mul.wide.u32 %rd2, %r3, 4;
	add.s64 %rd3, %rd0, %rd2;
	ld.global.u32 %r4, [%rd3];
	shr.u32 %r4, %r4, 16;
	and.b32 %r4, %r4, 15;
	mul.wide.u32 %rd4, %r4, 4;
	add.s64 %rd4, %rd1, %rd4;
	red.global.add.u32 [%rd4], 1;
done:
	ret;
}
`

// size is the number of elements of a buffer of a program.
const size = 320

// program is a random program over buffers of floats.
type program struct {
	buffers int
	steps   []step
}

// step is an operation: launches of the three kernels, a fill, and a copy.
type step struct {
	kind       int
	from, to   int
	n          int
	a          float32
	grid       tracer.Shape
	lo, hi, at int64
}

// newProgram makes up a program.
func newProgram(rng *rand.Rand) *program {
	p := &program{buffers: 3 + rng.IntN(4)}
	for range 1 + rng.IntN(8) {
		s := step{kind: rng.IntN(5), from: rng.IntN(p.buffers), n: 1 + rng.IntN(size), a: rng.Float32()}
		s.to = (s.from + 1 + rng.IntN(p.buffers-1)) % p.buffers
		s.lo = int64(rng.IntN(size))
		s.hi = s.lo + int64(rng.IntN(size-int(s.lo)+1))
		s.at = int64(rng.IntN(size - int(s.hi-s.lo) + 1))
		blocks := uint32(s.n+63) / 64
		switch rng.IntN(3) {
		case 0:
			s.grid = tracer.Linear(blocks, 64)
		case 1:
			s.grid = tracer.Shape{Grid: ir.Dim3{X: (blocks + 1) / 2, Y: 2, Z: 1}, Block: ir.Dim3{X: 64, Y: 1, Z: 1}}
		default:
			s.grid = tracer.Shape{Grid: ir.Dim3{X: 1, Y: (blocks + 2) / 3, Z: 3}, Block: ir.Dim3{X: 64, Y: 1, Z: 1}}
		}
		p.steps = append(p.steps, s)
	}
	return p
}

// instance is the program with memory of its own.
type instance struct {
	trace   *tracer.Trace
	buffers []tracer.Buffer
	hosts   []tracer.Buffer // pinned copies of the first and the last buffer
}

// record traces the program on a device.
func (p *program) record(dev device.Device) (*instance, error) {
	t := tracer.New(dev, "random", tracer.Deferred)
	m := t.Module("random.ptx", kernelsPTX)
	mix, turn, count := m.Kernel("mix"), m.Kernel("turn"), m.Kernel("count")
	in := &instance{}
	for i := range p.buffers {
		in.buffers = append(in.buffers, t.Alloc(fmt.Sprint("b", i), ir.F32, size, ir.InOut))
	}
	for _, name := range []string{"in", "out"} {
		in.hosts = append(in.hosts, t.AllocHost(name, ir.F32, size, ir.InOut))
	}
	t.Copy(in.buffers[0], in.hosts[0])
	for _, s := range p.steps {
		from, to := in.buffers[s.from], in.buffers[s.to]
		switch s.kind {
		case 0:
			t.Launch(mix, s.grid, from, to, s.n, s.a)
		case 1:
			t.Launch(turn, tracer.Linear(size/64, 64), from, to)
		case 2:
			t.Launch(count, tracer.Linear(size/64, 64), from, to, s.n)
		case 3:
			t.Memset(to.Slice(s.lo, s.hi), s.a)
		case 4:
			t.Copy(to.Slice(s.at, s.at+s.hi-s.lo), from.Slice(s.lo, s.hi))
		}
	}
	t.Copy(in.hosts[1], in.buffers[p.buffers-1])
	var err error
	in.trace, err = t.Finish()
	return in, err
}

// fill writes contents that follow from a seed.
func (in *instance) fill(seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 7))
	for _, b := range slices.Concat(in.buffers, in.hosts) {
		data := make([]float32, size)
		for i := range data {
			data[i] = rng.Float32()
		}
		if err := tracer.Write(b, data); err != nil {
			return err
		}
	}
	return nil
}

// contents returns the bytes of all buffers.
func (in *instance) contents() ([]byte, error) {
	var all []byte
	data := make([]float32, size)
	for _, b := range slices.Concat(in.buffers, in.hosts) {
		if err := tracer.Read(data, b); err != nil {
			return nil, err
		}
		for _, v := range data {
			all = binary.LittleEndian.AppendUint32(all, math.Float32bits(v))
		}
	}
	return all, nil
}

// alone runs the program once, as it was recorded.
func (in *instance) alone(dev device.Device) error {
	plan, err := optimizer.Plan(in.trace.Graph, optimizer.Options{Strategy: "serial"})
	if err != nil {
		return err
	}
	x, err := graphexec.Instantiate(dev, plan.Schedule, in.trace, graphexec.Graph)
	if err != nil {
		return err
	}
	return device.Join(x.Replay(context.Background()), x.Wait(context.Background()), x.Close())
}

// Case runs a random program for random tenants in random rounds, and compares the contents of all memory with that
// after separate runs. It returns an error if they differ.
func Case(dev device.Device, seed uint64) (err error) {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := newProgram(rng)
	server := tenancy.NewServer(dev, tenancy.Options{MaxMembers: 1 + rng.IntN(8)})
	var together, apart []*instance
	var tenants []*tenancy.Tenant
	defer func() {
		err = device.Join(err, server.Close())
		for _, in := range slices.Concat(together, apart) {
			err = device.Join(err, in.trace.Close())
		}
	}()
	for i := range 1 + rng.IntN(7) {
		var pair [2]*instance
		for k := range pair {
			if pair[k], err = p.record(dev); err != nil {
				return err
			}
			if err := pair[k].fill(seed + uint64(i)); err != nil {
				return err
			}
		}
		t, err := server.Add(fmt.Sprint("tenant ", i), pair[0].trace)
		if err != nil {
			return err
		}
		if reason := server.Reason(t); reason != "" {
			return errors.New(reason)
		}
		together, apart, tenants = append(together, pair[0]), append(apart, pair[1]), append(tenants, t)
	}
	var failed error
	for range 1 + rng.IntN(2) {
		for i, t := range tenants {
			if rng.IntN(4) == 0 {
				continue
			}
			server.Enqueue(&tenancy.Request{Tenant: t, Arrived: server.Now(), Done: func(r *tenancy.Request) { failed = device.Join(failed, r.Err) }})
			if err := apart[i].alone(dev); err != nil {
				return err
			}
		}
		for server.Busy() {
			next, err := server.Launch()
			if err != nil {
				return err
			}
			if err := server.Await(context.Background(), next); err != nil {
				return err
			}
		}
	}
	if failed != nil {
		return failed
	}
	for i := range together {
		got, err := together[i].contents()
		if err != nil {
			return err
		}
		want, err := apart[i].contents()
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("seed %d: the memory of tenant %d of %d differs from that of a separate run", seed, i, len(together))
		}
	}
	return nil
}
