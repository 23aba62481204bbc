package graphexec_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// walking has pick, which stores table[at] in scalar and advances at, and mix, y = 3y + x + n for each thread.
const walking = `
.version 6.0
.target sm_52
.address_size 64
.visible .entry pick(.param .u64 table, .param .u64 at, .param .u64 scalar)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [table];
	ld.param.u64 %rd2, [at];
	ld.param.u64 %rd3, [scalar];
	ld.global.u32 %r1, [%rd2];
	add.u32 %r2, %r1, 1;
	st.global.u32 [%rd2], %r2;
	and.b32 %r1, %r1, 63;
	mul.wide.u32 %rd4, %r1, 4;
	add.s64 %rd5, %rd1, %rd4;
	ld.global.u32 %r3, [%rd5];
	st.global.u32 [%rd3], %r3;
	ret;
}
.visible .entry mix(.param .u64 y, .param .u64 x, .param .u32 n)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [y];
	ld.param.u64 %rd2, [x];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %rd3, %r2, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
	ld.global.u32 %r3, [%rd4];
	ld.global.u32 %r4, [%rd5];
	mad.lo.u32 %r5, %r3, 3, %r4;
	add.u32 %r5, %r5, %r1;
	st.global.u32 [%rd4], %r5;
	ret;
}
`

const steps = 64 // values of a scalar, which then repeat

// walk is a random loop, whose scalar takes the values of a table one after another.
type walk struct {
	seed         uint64
	elem         ir.Type
	table        []uint32
	is           ir.Comparison
	value        float64
	limit, every int
	backend      graphexec.Backend
	strategy     string
}

func newWalk(seed uint64) *walk {
	r := rand.New(rand.NewPCG(seed, 53))
	w := &walk{
		seed: seed, elem: []ir.Type{ir.F32, ir.F32, ir.I32, ir.U32}[r.IntN(4)], value: float64(r.IntN(9)) - 2, every: 1 + r.IntN(5),
		is:    []ir.Comparison{ir.Below, ir.AtMost, ir.Equal, ir.NotEqual, ir.AtLeast, ir.Above}[r.IntN(6)],
		limit: []int{0, 1, 2, 7, 20, 40}[r.IntN(6)], backend: graphexec.Backends()[r.IntN(2)], strategy: []string{"serial", "nimble", "listsched"}[r.IntN(3)],
	}
	usual := float64(r.IntN(9)) - 2
	for range steps {
		v := usual // rarely another one, so that some loops run for long
		if r.IntN(6) == 0 {
			v = float64(r.IntN(9)) - 2
		}
		if r.IntN(12) == 0 {
			v = math.NaN()
		}
		bits := uint32(int32(v))
		if w.elem == ir.F32 {
			bits = math.Float32bits(float32(v))
		} else if math.IsNaN(v) {
			bits = 0
		}
		w.table = append(w.table, bits)
	}
	return w
}

// at returns value i of the scalar.
func (w *walk) at(bits uint32) float64 {
	switch w.elem {
	case ir.F32:
		return float64(math.Float32frombits(bits))
	case ir.I32:
		return float64(int32(bits))
	}
	return float64(bits)
}

// walker is a walk that is written in one way, in a trace of its own.
type walker struct {
	*walk
	t           *testing.T
	tr          *tracer.Tracer
	table, i, r tracer.Buffer
	data        []tracer.Buffer
	n           tracer.Param
	pick, mix   *tracer.Kernel
	trace       *tracer.Trace
	run         func()                          // all iterations
	apply       func(...graphexec.Change) error // of the Exec
	close       func() error
}

func (w *walk) record(t *testing.T, dev device.Device, name string) *walker {
	p := &walker{walk: w, t: t, tr: tracer.New(dev, name, tracer.Deferred)}
	m := p.tr.Module("walking.ptx", walking)
	p.pick, p.mix = m.Kernel("pick"), m.Kernel("mix")
	p.table, p.i = p.tr.Alloc("table", ir.U32, steps, ir.Input), p.tr.Alloc("i", ir.U32, 1, ir.InOut)
	p.r = p.tr.Alloc("r", w.elem, 2, ir.InOut)
	for b := range 4 {
		p.data = append(p.data, p.tr.Alloc(fmt.Sprint("b", b), ir.U32, 32, ir.InOut))
	}
	p.n = p.tr.Param("n", ir.U32, 1)
	return p
}

// body records one iteration, always the same.
func (p *walker) body() {
	r := rand.New(rand.NewPCG(p.seed, 59))
	for range 1 + r.IntN(5) {
		x := r.IntN(4)
		y := (x + 1 + r.IntN(3)) % 4
		switch r.IntN(5) {
		case 0:
			p.tr.Copy(p.data[y].Slice(0, 16), p.data[x].Slice(16, 32))
		case 1:
			p.tr.Memset(p.data[y].Slice(8, 24), uint32(r.IntN(9)))
		default:
			p.tr.Launch(p.mix, tracer.Linear(1, 32), p.data[y], p.data[x], p.n)
		}
	}
	p.tr.Launch(p.pick, tracer.Linear(1, 1), p.table, p.i, p.r.Slice(1, 2))
}

// finish plans what was recorded.
func (p *walker) finish() *ir.Schedule {
	var err error
	p.trace, err = p.tr.Finish()
	require.NoError(p.t, err)
	plan, err := optimizer.Plan(p.trace.Graph, optimizer.Options{Strategy: p.strategy, Streams: p.backend == graphexec.Streams, Verify: true})
	require.NoError(p.t, err)
	return plan.Schedule
}

// exec instantiates a schedule as what apply changes.
func (p *walker) exec(dev device.Device, s *ir.Schedule) *graphexec.Exec {
	x, err := graphexec.Instantiate(dev, s, p.trace, p.backend)
	require.NoError(p.t, err)
	p.apply, p.close = x.Apply, x.Close
	return x
}

func (p *walker) replay(x *graphexec.Exec) {
	require.NoError(p.t, x.Replay(context.Background()))
	require.NoError(p.t, x.Wait(context.Background()))
}

// recorded writes the walk with Tracer.Loop.
func (w *walk) recorded(t *testing.T, dev device.Device) *walker {
	p := w.record(t, dev, "recorded")
	p.tr.Loop(p.r.Slice(1, 2), w.is, w.value, tracer.Limits{Iterations: int64(w.limit), CheckEvery: int64(w.every)}, p.body)
	if w.limit == 0 {
		_, err := p.tr.Finish()
		assert.ErrorContains(t, err, "runs at most 0 iterations")
		return nil
	}
	x := p.exec(dev, p.finish())
	p.run = func() { p.replay(x) }
	return p
}

// scheduled writes the walk as a loop over a schedule.
func (w *walk) scheduled(t *testing.T, dev device.Device, lowering loop.Lowering) *walker {
	p := w.record(t, dev, "scheduled")
	p.body()
	s := p.finish()
	l := loop.Loop{Body: s, Until: loop.Until{Buffer: 2, Index: 1, Is: w.is, Value: w.value}, MaxIterations: w.limit, CheckEvery: w.every, Lowering: lowering, Backend: w.backend}
	x, err := loop.Instantiate(dev, l, p.trace)
	require.NoError(t, err)
	p.apply, p.close = x.Apply, x.Close
	p.run = func() {
		_, err := x.Run(context.Background())
		require.NoError(t, err)
	}
	return p
}

// byHand writes the walk as a loop of the program over replays of one iteration.
func (w *walk) byHand(t *testing.T, dev device.Device) *walker {
	p := w.record(t, dev, "by hand")
	p.body()
	x := p.exec(dev, p.finish())
	p.run = func() {
		for i := 1; i <= w.limit; i++ {
			p.replay(x)
			if i%w.every != 0 {
				continue
			}
			if v := w.at(p.read(p.r)[1]); math.IsNaN(v) || holds(v, w.is, w.value) {
				return
			}
		}
	}
	return p
}

// read returns the words of a buffer.
func (p *walker) read(b tracer.Buffer) []uint32 {
	words := make([]uint32, b.Len())
	require.NoError(p.t, tracer.Read(words, b))
	return words
}

func (p *walker) contents() (all [][]uint32) {
	for _, b := range append([]tracer.Buffer{p.table, p.i, p.r}, p.data...) {
		all = append(all, p.read(b))
	}
	return all
}

// change makes changes one by one, but for buffers that the body does not use.
func (p *walker) change(all []graphexec.Change) {
	for _, c := range all {
		if err := p.apply(c); err != nil {
			require.ErrorContains(p.t, err, "is used by no operation")
		}
	}
}

func (p *walker) fill() {
	require.NoError(p.t, tracer.Write(p.table, p.walk.table))
	require.NoError(p.t, tracer.Write(p.i, []uint32{0}))
	require.NoError(p.t, tracer.Write(p.r, []uint32{7, 7}))
	for i, b := range p.data {
		words := make([]uint32, 32)
		for at := range words {
			words[at] = uint32(100*i + at)
		}
		require.NoError(p.t, tracer.Write(b, words))
	}
}

// TestOneLoopWrittenInThreeWays runs random loops as Tracer.Loop, as a loop over a schedule in each lowering, and by hand, on devices
// with conditional nodes and without, three times with changes in between. All leave the same bytes.
func TestOneLoopWrittenInThreeWays(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 12
	}
	ended, nan, exhausted := 0, 0, 0
	for seed := range seeds {
		w := newWalk(seed)
		simulated, err := sim.New(sim.Options{Race: sim.RaceOn})
		require.NoError(t, err)
		hidden := plainDevice{simulated}
		ways := map[string]*walker{"recorded": w.recorded(t, simulated), "recorded, hidden": w.recorded(t, hidden)}
		for _, lowering := range lowerings {
			ways[fmt.Sprint("over a schedule, ", lowering)] = w.scheduled(t, simulated, lowering)
		}
		hand := w.byHand(t, simulated)
		hand.fill()
		for name, p := range ways {
			if p == nil {
				delete(ways, name)
				continue
			}
			p.fill()
		}
		changes := []graphexec.Change{graphexec.Swap("b0", "b1"), graphexec.Swap("b2", "b3"), graphexec.Param("n", 5), graphexec.Enable("pick", true)}
		for round := range 3 {
			hand.run()
			want := hand.contents()
			for name, p := range ways {
				p.run()
				require.Equal(t, want, p.contents(), "seed %d, round %d, %s: %+v\n%s", seed, round, name, w, ir.Print(p.trace.Graph))
			}
			switch v := w.at(want[2][1]); {
			case w.limit == 0:
			case math.IsNaN(v):
				nan++
			case holds(v, w.is, w.value):
				ended++
			default:
				exhausted++
			}
			some := changes[:1+int(seed+uint64(round))%len(changes)]
			hand.change(some)
			for _, p := range ways {
				p.change(some)
			}
		}
		require.NoError(t, hand.close())
		for _, p := range ways {
			require.NoError(t, p.close())
		}
		require.NoError(t, simulated.Close())
	}
	t.Logf("%d ended, %d by NaN, %d ran to their limits", ended, nan, exhausted)
	assert.Greater(t, min(ended, nan, exhausted), 1)
}
