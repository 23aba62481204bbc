package local_test

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/internal/sharing/local"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/timings"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// addPTX has a kernel that adds its second argument to x[i], a number of times.
const addPTX = `.version 6.0
.target sm_60
.address_size 64
.visible .entry add(.param .u64 x, .param .u32 a, .param .u32 times)
{
	.reg .pred %p;
	.reg .b32 %r<5>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd0, [x];
	ld.param.u32 %r0, [a];
	ld.param.u32 %r4, [times];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r1, %r1, 128, %r2;
	mul.wide.u32 %rd1, %r1, 4;
	add.s64 %rd2, %rd0, %rd1;
	ld.global.u32 %r3, [%rd2];
again:
	add.u32 %r3, %r3, %r0;
	sub.u32 %r4, %r4, 1;
	setp.ne.u32 %p, %r4, 0;
	@%p bra again;
	st.global.u32 [%rd2], %r3;
	ret;
}
`

const threads = 128 * 16

// program traces n launches that add numbers to a buffer, and returns it with what a replay adds.
func program(t *testing.T, dev device.Device, n int, times uint32) (*tracer.Trace, tracer.Buffer, uint32) {
	t.Helper()
	tr := tracer.New(dev, "add", tracer.Deferred)
	k := tr.Module("add.ptx", addPTX).Kernel("add")
	x := tr.Alloc("x", ir.U32, threads, ir.InOut)
	sum := uint32(0)
	for i := range uint32(n) {
		tr.Launch(k, tracer.Linear(threads/128, 128), x, i+1, times)
		sum += (i + 1) * times
	}
	trace, err := tr.Finish()
	require.NoError(t, err)
	require.NoError(t, tracer.Write(x, make([]uint32, threads)))
	return trace, x, sum
}

func read(t *testing.T, dev device.Device, trace *tracer.Trace) uint32 {
	t.Helper()
	data := make([]byte, 4*threads)
	require.NoError(t, dev.Read(data, traced.BindingsOf(trace).Pointer(0)))
	first := binary.LittleEndian.Uint32(data)
	for i := 0; i < len(data); i += 4 {
		require.Equal(t, first, binary.LittleEndian.Uint32(data[i:]))
	}
	return first
}

func policies() []sharing.Policy {
	return []sharing.Policy{
		sharing.Exclusive{}, &sharing.Streams{Depth: 1}, &sharing.Streams{Depth: 8, Priority: true}, &sharing.Slices{Slice: time.Millisecond, Switch: 50 * time.Microsecond},
		&sharing.Fikit{SmallGap: 5 * time.Microsecond}, &sharing.Orion{Most: 160 * time.Microsecond}, &sharing.Tally{Idle: 100 * time.Microsecond, Most: 100 * time.Microsecond},
		sharing.NewFill(sharing.Fill{}), sharing.NewFill(sharing.Fill{Flag: true}),
	}
}

// TestProgramsKeepTheirResults runs two programs under every policy: both compute what they do alone.
func TestProgramsKeepTheirResults(t *testing.T) {
	for _, p := range policies() {
		dev := open(t)
		h := local.NewHost(dev, p)
		high, x, sumHigh := program(t, dev, 5, 100)
		low, y, sumLow := program(t, dev, 20, 200)
		var programs []*local.Program
		var stages []*local.Stage
		units := 0
		for i, trace := range []*tracer.Trace{high, low} {
			stage, err := local.NewStage(dev, trace, p.Form())
			require.NoError(t, err)
			assert.Positive(t, stage.Alone)
			q, err := h.Add(trace.Graph.Name, 9-9*i, []local.Work{stage}, []sharing.Stage{{Alone: stage.Alone}})
			require.NoError(t, err)
			programs, stages, units = append(programs, q), append(stages, stage), len(stage.Units())
		}
		require.NoError(t, tracer.Write(x, make([]uint32, threads)))
		require.NoError(t, tracer.Write(y, make([]uint32, threads)))
		ended := make([]int, 2)
		run := func(i, times int) { // submits again when a stage has ended, after a gap for the first program
			var next func(time.Duration, error)
			next = func(_ time.Duration, err error) {
				require.NoError(t, err)
				if ended[i]++; ended[i] < times {
					h.Arrive(programs[i], 0, next)
				}
			}
			h.Arrive(programs[i], 0, next)
		}
		run(0, 5)
		run(1, 3)
		for ended[0] < 5 || ended[1] < 3 {
			next, err := h.Launch()
			require.NoError(t, err)
			require.NoError(t, h.Await(context.Background(), next), p.Name())
		}
		assert.Equal(t, 5*sumHigh, read(t, dev, high), p.Name())
		assert.Equal(t, 3*sumLow, read(t, dev, low), p.Name())
		assert.Equal(t, 5, programs[0].Stats().Stages)
		assert.Equal(t, 3*units, programs[1].Stats().Units)
		require.NoError(t, h.Close(errPlanted))
		for _, stage := range stages {
			require.NoError(t, stage.Close())
		}
		require.NoError(t, high.Close())
		require.NoError(t, low.Close())
		live := dev.(device.Accounter).Live()
		assert.Zero(t, live.Streams+live.Events+live.Graphs+live.Execs+live.Lists, p.Name())
	}
}

func open(t *testing.T) device.Device {
	t.Helper()
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, dev.Close()) })
	return dev
}

// TestTheFlagEndsAPiece runs a program whose pieces the device runs by itself beside an important one that arrives at many
// moments. The important one waits for about one unit, the other one has few grants, and both compute what they do alone.
func TestTheFlagEndsAPiece(t *testing.T) {
	dev := open(t)
	policy := sharing.NewFill(sharing.Fill{Flag: true, Target: 1}) // the flag ends every piece
	h := local.NewHost(dev, policy)
	high, x, sumHigh := program(t, dev, 5, 100)
	low, y, sumLow := program(t, dev, 40, 200)
	var programs []*local.Program
	for i, trace := range []*tracer.Trace{high, low} {
		stage, err := local.NewStage(dev, trace, policy.Form())
		require.NoError(t, err)
		defer func() { assert.NoError(t, stage.Close()) }()
		p, err := h.Add(trace.Graph.Name, 9-9*i, []local.Work{stage}, []sharing.Stage{{Alone: stage.Alone}})
		require.NoError(t, err)
		programs = append(programs, p)
	}
	require.NoError(t, tracer.Write(x, make([]uint32, threads)))
	require.NoError(t, tracer.Write(y, make([]uint32, threads)))
	due, lows, highs := h.Now(), 0, 0
	for highs < 30 {
		if !programs[1].Busy() {
			h.Arrive(programs[1], 0, func(_ time.Duration, err error) {
				if err == nil {
					lows++
				}
			})
		}
		if h.Now() >= due {
			due = sharing.Never
			h.Arrive(programs[0], 0, func(at time.Duration, err error) {
				require.NoError(t, err)
				highs++
				due = at + time.Duration(highs%7)*37*time.Microsecond + 100*time.Microsecond
			})
		}
		next, err := h.Launch()
		require.NoError(t, err)
		require.NoError(t, h.Await(context.Background(), min(next, due)))
	}
	h.Cancel(programs[1], errPlanted)
	drain(t, h)
	assert.Equal(t, 30*sumHigh, read(t, dev, high))
	rest := read(t, dev, low) - uint32(lows)*sumLow
	assert.LessOrEqual(t, rest, sumLow, "the cancelled stage ran in part")
	bound, oversize := h.Bound(policy)
	assert.Zero(t, oversize)
	assert.LessOrEqual(t, programs[0].Stats().MaxLate, bound)
	assert.Positive(t, programs[0].Stats().Late, "it was never in the way")
	st := programs[1].Stats()
	assert.Less(t, st.Grants, st.Units/3)
	t.Logf("latest %v of %v, %d grants of %d units", programs[0].Stats().MaxLate, bound, st.Grants, st.Units)
	h.Arrive(programs[1], 0, func(_ time.Duration, err error) { require.NoError(t, err); lows++ })
	drain(t, h)
	assert.Equal(t, uint32(lows)*sumLow+rest, read(t, dev, low), "a new stage begins with its first unit")
	require.NoError(t, h.Close(errPlanted))
	require.NoError(t, high.Close())
	require.NoError(t, low.Close())
}

// failing is work whose second submission fails.
type failing struct {
	local.Work
	submissions int
}

var errPlanted = errors.New("planted")

func (f *failing) Submit(s device.Stream, first, n int) error {
	if f.submissions++; f.submissions == 2 {
		return errPlanted
	}
	return f.Work.Submit(s, first, n)
}

// TestAFailedSubmissionEndsItsStageAlone checks that the stage reports the error, later ones are cancelled, and other
// programs and later stages run.
func TestAFailedSubmissionEndsItsStageAlone(t *testing.T) {
	dev := open(t)
	h := local.NewHost(dev, &sharing.Streams{Depth: 1})
	trace, _, sum := program(t, dev, 4, 10)
	work, err := local.NewOps(dev, trace.Graph, traced.BindingsOf(trace))
	require.NoError(t, err)
	good, err := h.Add("good", 0, []local.Work{work}, nil)
	require.NoError(t, err)
	bad, err := h.Add("bad", 5, []local.Work{&failing{Work: work}}, nil)
	require.NoError(t, err)
	var errs []error
	ended := func(_ time.Duration, err error) { errs = append(errs, err) }
	goodEnded := 0
	h.Arrive(good, 0, func(_ time.Duration, err error) { require.NoError(t, err); goodEnded++ })
	h.Arrive(bad, 0, ended)
	h.Arrive(bad, 0, ended)
	drain(t, h)
	assert.Equal(t, []error{errPlanted, errPlanted}, errs)
	assert.Equal(t, 1, goodEnded)
	h.Arrive(bad, 0, ended)
	drain(t, h)
	require.Len(t, errs, 3)
	assert.NoError(t, errs[2])
	assert.Equal(t, 3*sum+1*10, read(t, dev, trace), "measured, good, the first operation of the failed stage, and a whole one")
	require.NoError(t, h.Close(errPlanted))
	require.NoError(t, trace.Close())
}

func drain(t *testing.T, h *local.Host) {
	t.Helper()
	for {
		next, err := h.Launch()
		require.NoError(t, err)
		if !h.Busy() && next == sharing.Never {
			return
		}
		require.NoError(t, h.Await(context.Background(), next))
	}
}

// TestSteadyStateAllocatesNothing counts allocations of stages under Fill.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	dev := open(t)
	h := local.NewHost(dev, sharing.NewFill(sharing.Fill{}))
	var programs []*local.Program
	trace, _, _ := program(t, dev, 4, 10)
	for _, class := range []int{9, 3} {
		p, err := h.Add("p", class, []local.Work{&counted{units: 4}}, nil)
		require.NoError(t, err)
		programs = append(programs, p)
	}
	ended := func(time.Duration, error) {}
	ctx := context.Background()
	turn := func() {
		for _, p := range programs {
			if !p.Busy() {
				h.Arrive(p, 0, ended)
			}
		}
		for range 4 {
			next, err := h.Launch()
			if err != nil {
				t.Fatal(err)
			}
			if err := h.Await(ctx, min(next, h.Now()+time.Millisecond)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 300 {
		turn()
	}
	assert.LessOrEqual(t, testing.AllocsPerRun(100, turn), 16.0, "of the simulator, for its events")
	require.NoError(t, h.Close(errPlanted))
	require.NoError(t, trace.Close())
}

// TestMeasuredGapsLimitTheFirstPiece checks that gaps of earlier runs are known in the first gap.
func TestMeasuredGapsLimitTheFirstPiece(t *testing.T) {
	gaps := timings.NewSketch()
	for range 20 {
		gaps.Record(35 * time.Microsecond)
	}
	for _, c := range []struct {
		known []sharing.Stage
		units int
	}{{nil, 10}, {[]sharing.Stage{{Gaps: gaps}}, 2}} {
		dev := open(t)
		h := local.NewHost(dev, sharing.NewFill(sharing.Fill{}))
		high, err := h.Add("high", 9, []local.Work{&counted{units: 1}}, c.known)
		require.NoError(t, err)
		low, err := h.Add("low", 0, []local.Work{&counted{units: 100}}, nil)
		require.NoError(t, err)
		h.Arrive(high, 0, func(time.Duration, error) {})
		drain(t, h)
		h.Arrive(low, 0, func(time.Duration, error) {})
		_, err = h.Launch()
		require.NoError(t, err)
		assert.Equal(t, c.units, low.Stats().Units)
		require.NoError(t, h.Close(errPlanted))
	}
}

// counted is work that does nothing.
type counted struct{ units int }

func (c *counted) Units() []sharing.Unit {
	u := make([]sharing.Unit, c.units)
	for i := range u {
		u[i].Time = 10 * time.Microsecond
	}
	return u
}

func (c *counted) Submit(device.Stream, int, int) error { return nil }
