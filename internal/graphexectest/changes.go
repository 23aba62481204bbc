// Package graphexectest checks replays on any device. It applies random changes between replays of random programs, and
// compares the results with those of the same calls made one by one.
package graphexectest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

const length = 64 // elements of a buffer

// program makes the same random calls in each run, apart from the changes made to it.
type program struct {
	t       testing.TB
	seed    uint64
	calls   int
	loop    bool // it is the body of a loop: it ends with a step of a scalar, and has no host calls
	tr      *tracer.Tracer
	kernels []*tracer.Kernel
	buffers []tracer.Buffer // by role; Swap and Rebind change which buffer has a role
	all     []tracer.Buffer // in the order of allocation
	host    tracer.Buffer
	amount  any
	many    any          // number of elements of launches on whole buffers
	off     map[int]bool // by number of the call
	grid    map[int]uint32

	r *rand.Rand
	n int
}

func start(t testing.TB, dev device.Device, mode tracer.Mode, seed uint64) *program {
	p := &program{t: t, seed: seed, calls: 4 + int(seed%12), tr: tracer.New(dev, "changes", mode), off: map[int]bool{}, grid: map[int]uint32{}}
	for _, name := range []string{"square", "combine", "unsharpen"} {
		k, ok := kernels.Lookup(name)
		require.True(t, ok)
		p.kernels = append(p.kernels, p.tr.Module(k.File, k.PTX).Kernel(name))
	}
	p.amount, p.many = p.tr.Param("amount", ir.F32, 0.25), p.tr.Param("many", ir.I32, length/2)
	if mode == tracer.Eager {
		p.amount, p.many = float32(0.25), int32(length/2)
	}
	for i := range 3 + int(seed%3) {
		p.add(p.tr.Alloc(fmt.Sprintf("b%d", i), ir.F32, length, ir.InOut))
	}
	p.add(p.tr.AllocHost("stage", ir.F32, length, ir.InOut))
	p.host = p.tr.AllocHost("host", ir.F32, length, ir.InOut)
	p.write(p.host, len(p.all))
	return p
}

// stage returns the role of the pinned memory that only copies use: the last one.
func (p *program) stage() int { return len(p.buffers) - 1 }

func (p *program) add(b tracer.Buffer) { p.buffers = append(p.buffers, p.keep(b)) }

// keep adds a buffer to p.all and fills it with random contents.
func (p *program) keep(b tracer.Buffer) tracer.Buffer {
	p.write(b, len(p.all))
	p.all = append(p.all, b)
	return b
}

// write fills a buffer with the random contents of a seed.
func (p *program) write(b tracer.Buffer, seed int) {
	require.NoError(p.t, p.tr.Err())
	require.NoError(p.t, tracer.Write(b, contents(seed)))
}

func contents(seed int) []float32 {
	r := rand.New(rand.NewPCG(uint64(seed), 2))
	data := make([]float32, length)
	for i := range data {
		data[i] = r.Float32()
	}
	return data
}

func (p *program) run() {
	p.r, p.n = rand.New(rand.NewPCG(p.seed, 1)), 0
	for range p.calls {
		p.call()
	}
	if p.loop {
		scalar := p.scalar()
		p.do(func() {
			p.tr.Launch(p.kernels[2], tracer.Linear(1, 32), scalar, p.buffers[0].Slice(0, 1), scalar, p.amount, 1)
		})
	}
	require.NoError(p.t, p.tr.Err())
}

// do makes the next call, unless it is switched off.
func (p *program) do(call func()) {
	if !p.off[p.n] {
		call()
	}
	p.n++
}

// call makes one random call. It draws the same random numbers in each run, regardless of changes.
func (p *program) call() {
	n := []int64{1, length / 2, length}[p.r.IntN(3)]
	blocks := uint32(1 + p.r.IntN(3))
	if b, ok := p.grid[p.n]; ok {
		blocks = b
	}
	shape := tracer.Linear(blocks, 32)
	a, b, c, out := p.piece(n), p.piece(n), p.piece(n), p.piece(n)
	value, back := p.r.Float32(), p.r.IntN(2) == 0
	var elements any = n
	if n == length {
		elements = p.many
	}
	kinds := 7
	if p.loop {
		kinds = 6
	}
	switch p.r.IntN(kinds) {
	case 0, 1:
		p.do(func() { p.tr.Launch(p.kernels[0], shape, a, out, elements) })
	case 2:
		p.do(func() { p.tr.Launch(p.kernels[1], shape, a, b, c, out, elements) })
	case 3:
		p.do(func() { p.tr.Launch(p.kernels[2], shape, a, b, out, p.amount, elements) })
	case 4:
		p.do(func() { p.tr.Memset(out, value) })
	case 5:
		stage := p.buffers[p.stage()].Slice(0, n)
		p.do(func() { p.tr.Copy(stage, a) })
		if back {
			p.do(func() { p.tr.Copy(out, stage) })
		}
	case 6:
		p.do(func() { p.tr.Copy(p.host.Slice(0, n), a) })
		p.do(func() {
			p.tr.HostCall("negate", func() error { negate(p.host.HostBytes()); return nil }, tracer.Use{Buffer: p.host, Mode: ir.ReadWrite})
		})
		if back {
			p.do(func() { p.tr.Copy(out, p.host.Slice(0, n)) })
		}
	}
}

// piece returns n elements at a multiple of n, so that two pieces of the same length are equal or disjoint.
func (p *program) piece(n int64) tracer.Buffer {
	i, at := p.r.IntN(p.stage()), p.r.Int64N(length/n)*n
	return p.buffers[i].Slice(at, at+n)
}

func negate(data []byte) {
	for i := 3; i < len(data); i += 4 {
		data[i] ^= 0x80
	}
}

func (p *program) read() (got [][]uint32) {
	for _, b := range append(p.all[:len(p.all):len(p.all)], p.host) {
		data := make([]uint32, length)
		require.NoError(p.t, tracer.Read(data, b))
		got = append(got, data)
	}
	return got
}

// Changes replays random programs with random changes between replays, and makes the changed calls one by one on
// another device. It requires that both leave the same bytes. seeds is the number of programs. open returns a new
// device, which Changes closes.
func Changes(t *testing.T, open func() device.Device, seeds uint64) {
	done := map[graphexec.Backend]*graphexec.Stats{}
	for _, form := range graphexec.Backends() {
		done[form] = &graphexec.Stats{}
		for seed := range seeds {
			s := changes(t, open, seed, form)
			done[form].Replays += s.Replays
			done[form].Updates += s.Updates
			done[form].Rebuilds += s.Rebuilds
		}
		require.Positive(t, done[form].Updates)
		require.Positive(t, done[form].Replays)
	}
	require.Positive(t, done[graphexec.Graph].Rebuilds)
}

// also lists optional passes of the plans. runs is the number of runs of the program in one replay. relies is set for
// passes that rely on the writes of operations: no operation can be switched off after them.
var also = []struct {
	passes []string
	runs   int
	relies bool
}{
	{nil, 1, false},
	{[]string{"copyelim"}, 1, true},
	{[]string{"unroll(2)"}, 2, true},
	{[]string{"group"}, 1, false},
}

func changes(t *testing.T, open func() device.Device, seed uint64, form graphexec.Backend) graphexec.Stats {
	plain, replayed := open(), open()
	want := start(t, plain, tracer.Eager, seed)
	got := start(t, replayed, tracer.Deferred, seed)
	got.run()
	trace, err := got.tr.Finish()
	require.NoError(t, err)
	strategies, with := optimizer.Strategies(), also[seed%uint64(len(also))]
	plan, err := optimizer.Plan(trace.Graph, optimizer.Options{
		Strategy: strategies[seed%uint64(len(strategies))].Name, Streams: form == graphexec.Streams, Also: with.passes})
	require.NoError(t, err)
	x, err := graphexec.Instantiate(replayed, plan.Schedule, trace, form)
	require.NoError(t, err)

	r := rand.New(rand.NewPCG(seed, 3))
	m := &mutator{r: r, want: want, got: got, dev: replayed, ops: trace.Graph.Ops, fixed: with.relies, used: used(plan.Schedule.Graph), own: got.places(trace)}
	for step := range 8 {
		m.step(x, fmt.Sprintf("seed %d, %v, %v, step %d", seed, with.passes, form, step))
		times := r.IntN(3)
		for range times * with.runs {
			want.run()
		}
		require.NoError(t, x.ReplayN(context.Background(), times))
		if r.IntN(2) == 0 {
			require.NoError(t, x.Wait(context.Background()))
			require.Equal(t, want.read(), m.read(), "seed %d, %v, %v, step %d", seed, with.passes, form, step)
			m.input()
		}
	}
	require.NoError(t, x.Wait(context.Background()))
	require.Equal(t, want.read(), m.read(), "seed %d, %v, %v", seed, with.passes, form)
	stats := x.Stats()
	require.NoError(t, x.Close())
	finished, err := want.tr.Finish()
	require.NoError(t, err)
	for _, p := range m.fresh {
		require.NoError(t, replayed.Free(p))
	}
	require.NoError(t, finished.Close())
	require.NoError(t, trace.Close())
	require.NoError(t, plain.Close())
	require.NoError(t, replayed.Close())
	return stats
}

// used returns the names of the buffers that operations access.
func used(g *ir.Graph) map[string]bool {
	names := map[string]bool{}
	for i := range g.Ops {
		for _, a := range g.Ops[i].Accesses(new([2]ir.Access)) {
			names[g.Buffers[a.Buffer].Name] = true
		}
	}
	return names
}

// mutator draws random changes. Each comes with a model: a function that makes the same change to the calls made one by
// one.
type mutator struct {
	r         *rand.Rand
	want, got *program
	dev       device.Device
	ops       []ir.Op
	fixed     bool            // operations cannot be switched off or get other grids
	used      map[string]bool // names of the buffers that can be rebound or swapped
	own       []device.Ptr    // addresses of the trace's buffers, in the order of program.all
	fresh     []device.Ptr    // memory allocated for Rebind
}

// places returns the addresses of the program's buffers in a trace that was not changed yet.
func (p *program) places(trace *tracer.Trace) (own []device.Ptr) {
	for _, b := range p.all {
		own = append(own, trace.Pointer(b.ID()))
	}
	return own
}

// step applies up to three changes at once. It requires that Apply fails exactly if Preflight does and then changes
// nothing, that changes which must be possible succeed, and that Preflight predicts rebuilds.
func (m *mutator) step(x *graphexec.Exec, at string) {
	t := m.want.t
	var list []graphexec.Change
	var models []func()
	possible := true
	for range m.r.IntN(4) {
		c, model, ok := m.change()
		list, models, possible = append(list, c), append(models, model), possible && ok
	}
	before := x.Stats()
	verdicts, refused := x.Preflight(list...)
	require.Equal(t, before, x.Stats())
	err := x.Apply(list...)
	require.Equal(t, refused == nil, err == nil, "%s: %v and %v", at, refused, err)
	if possible {
		require.NoError(t, err, at)
	}
	if err != nil {
		require.Equal(t, before, x.Stats(), "%s: all or none of %v", at, list)
		return
	}
	for _, model := range models {
		model()
	}
	predicted := slices.ContainsFunc(verdicts, func(v graphexec.Verdict) bool { return v.Rebuild != "" })
	require.Equal(t, predicted, x.Stats().Rebuilds > before.Rebuilds, "%s: %v", at, verdicts)
}

// input writes new contents to the buffer of a random role, on both sides.
func (m *mutator) input() {
	i, data := m.r.IntN(len(m.got.buffers)), contents(m.r.Int())
	require.NoError(m.want.t, tracer.Write(m.want.buffers[i], data))
	require.NoError(m.want.t, tracer.Write(m.got.buffers[i], data))
}

// change returns a random change, its model, and whether the change must be possible.
func (m *mutator) change() (graphexec.Change, func(), bool) {
	w, stage := m.want, m.want.stage()
	switch m.r.IntN(6) {
	case 0:
		v := m.r.Float32()
		return graphexec.Param("amount", v), func() { w.amount = v }, true
	case 1:
		v := int32(1 + m.r.IntN(length))
		return graphexec.Param("many", v), func() { w.many = v }, true
	case 2:
		i, j := m.r.IntN(stage+1), m.r.IntN(stage)
		return graphexec.Swap(m.role(i), m.role(j)), func() { w.buffers[i], w.buffers[j] = w.buffers[j], w.buffers[i] },
			i != stage && m.used[m.role(i)] && m.used[m.role(j)]
	case 3:
		i := min(stage, m.r.IntN(2*stage)) // half of the draws are the stage, which may require a rebuild
		p, model := m.memory(i)
		return graphexec.Rebind(m.role(i), p), model, m.used[m.role(i)]
	case 4:
		op, on := m.r.IntN(len(m.ops)), m.r.IntN(3) == 0
		return graphexec.Enable(ir.OpID(op).String(), on), func() { w.off[op] = !on }, !m.fixed
	}
	op := m.r.IntN(len(m.ops))
	blocks := uint32(1 + m.r.IntN(3))
	return graphexec.Grid(ir.OpID(op).String(), ir.Dim3{X: blocks, Y: 1, Z: 1}), func() { w.grid[op] = blocks },
		m.ops[op].Kind == ir.KindLaunch && !m.fixed
}

// role returns the name of a role in the trace.
func (m *mutator) role(i int) string {
	if i == m.want.stage() {
		return "stage"
	}
	return fmt.Sprintf("b%d", i)
}

// memory allocates new memory for a role on both sides, with the same contents. For the stage, which only copies use,
// it may be pinned memory or device memory.
func (m *mutator) memory(role int) (device.Ptr, func()) {
	t := m.want.t
	var p device.Ptr
	var err error
	if role == m.want.stage() && m.r.IntN(2) == 0 {
		p, _, err = m.dev.AllocHost(4 * length)
	} else {
		p, err = m.dev.Alloc(4 * length)
	}
	require.NoError(t, err)
	m.fresh = append(m.fresh, p)
	fresh := m.want.keep(m.want.tr.Alloc("fresh", ir.F32, length, ir.InOut))
	data := make([]byte, 4*length)
	require.NoError(t, tracer.Read(data, fresh))
	require.NoError(t, m.dev.Write(p, data))
	return p, func() { m.want.buffers[role] = fresh }
}

// read returns the contents of all memory that replays have used, in the order of program.read. It also requires that
// reading a role through the trace returns the contents of the memory that has the role now.
func (m *mutator) read() (got [][]uint32) {
	host := make([]uint32, length)
	require.NoError(m.want.t, tracer.Read(host, m.got.host))
	for i, b := range m.got.buffers {
		named, there := make([]uint32, length), make([]uint32, length)
		require.NoError(m.want.t, tracer.Read(named, b))
		require.NoError(m.want.t, tracer.Read(there, m.want.buffers[i]))
		require.Equal(m.want.t, there, named, "seed %d: role %d", m.want.seed, i)
	}
	for _, p := range slices.Concat(m.own, m.fresh) {
		data := make([]byte, 4*length)
		require.NoError(m.want.t, m.dev.Read(data, p))
		words := make([]uint32, length)
		for i := range words {
			words[i] = uint32(data[4*i]) | uint32(data[4*i+1])<<8 | uint32(data[4*i+2])<<16 | uint32(data[4*i+3])<<24
		}
		got = append(got, words)
	}
	return append(got, host)
}
