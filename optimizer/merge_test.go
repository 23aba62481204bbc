package optimizer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/costmodel"
	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/internal/unit"
	"github.com/reprise-gpu/reprise/ir"
)

const mergedPTX = `.version 7.0
.target sm_70
.address_size 64
.visible .entry two(.param .u64 from, .param .u64 to, .param .u32 n)
{
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  ret;
}
.visible .entry one(.param .u64 to)
{
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [to];
  ret;
}
`

// launches is a random program of launches of two kernels, with fills, copies to the host and orders in between.
func launches(r *rand.Rand, n int) *ir.Graph {
	g := &ir.Graph{Name: "g", Modules: []ir.Module{{Name: "m", File: "m.ptx", Source: mergedPTX}}, Params: []ir.Param{{Name: "n", Value: ir.Scalar{Type: ir.U32, Bits: 7}}}}
	for i := range 3 + r.IntN(6) {
		g.Buffers = append(g.Buffers, ir.Buffer{Name: fmt.Sprint("b", i), Elem: ir.F32, Len: 1 << (8 + r.IntN(8)), Role: ir.InOut})
	}
	g.Buffers = append(g.Buffers, ir.Buffer{Name: "h", Elem: ir.F32, Len: 64, Place: ir.Place{Kind: ir.PinnedHost}, Role: ir.InOut})
	host := ir.BufferID(len(g.Buffers) - 1)
	pick := func() (ir.BufferID, ir.Range) {
		b := ir.BufferID(r.IntN(int(host)))
		lo := r.Int64N(4) * g.Buffers[b].Size() / 4
		return b, ir.Range{Buffer: b, Lo: lo, Hi: lo + g.Buffers[b].Size()/4}
	}
	for range n {
		op := ir.Op{Cost: -1}
		from, read := pick()
		to, write := pick()
		l := &ir.Launch{Entry: "one", Grid: ir.Dim3{X: 1 + r.Uint32N(40), Y: 1, Z: 1 + r.Uint32N(2)}, Block: ir.Dim3{X: 32 * (1 + r.Uint32N(2)), Y: 1, Z: 1}}
		l.Args = []ir.Arg{{Kind: ir.ArgBuffer, Buffer: to, Offset: write.Lo}}
		switch kind := r.IntN(10); {
		case kind < 5:
			l.Entry = "two"
			l.Args = append([]ir.Arg{{Kind: ir.ArgBuffer, Buffer: from, Offset: read.Lo}}, l.Args...)
			l.Args = append(l.Args, ir.Arg{Kind: ir.ArgParam})
			op.Kind, op.Launch, op.Uses = ir.KindLaunch, l, []ir.Access{{Range: read}, {Range: write, Mode: ir.Write}}
		case kind < 8:
			op.Kind, op.Launch, op.Uses = ir.KindLaunch, l, []ir.Access{{Range: write, Mode: ir.ReadWrite}}
		case kind < 9:
			op.Kind, op.Memset = ir.KindMemset, &ir.Memset{Dst: write, Value: ir.Scalar{Type: ir.U32}}
		default:
			op.Kind, op.Copy = ir.KindCopy, &ir.Copy{Src: ir.Range{Buffer: from, Hi: 256}, Dst: ir.Range{Buffer: host, Hi: 256}}
		}
		if len(g.Ops) > 0 && r.IntN(8) == 0 {
			op.After = []ir.OpID{ir.OpID(r.IntN(len(g.Ops)))}
		}
		g.Ops = append(g.Ops, op)
	}
	return g
}

// The plan with merging is never predicted to take longer, runs every operation once, and can be printed and parsed.
func TestMergedPlansAreNeverSlower(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 71))
	merged, shorter := 0, 0
	for round := range densetest.Rounds(60) {
		g := launches(r, 1+r.IntN(24))
		opts := Options{Strategy: []string{"nimble", "serial", "nimble(2)", "levels", "listsched"}[r.IntN(5)], Streams: round%2 == 0, Verify: true}
		switch r.IntN(3) {
		case 0:
			opts.Costs = newDeclaredCosts(profiles.All()[0])
		case 1:
			opts.Costs = newMeasuredCosts(profiles.All()[0], counts(r, g))
		}
		without, err := Plan(g, opts)
		require.NoError(t, err)
		opts.Also = []string{"merge"}
		with, err := Plan(g, opts)
		require.NoError(t, err)
		require.LessOrEqual(t, with.Schedule.Predicted, without.Schedule.Predicted, "round %d\n%s", round, ir.Print(g))
		requireNoLonger(t, &opts, with.Schedule, without.Schedule)
		requireAllRun(t, g, with.Graph)
		text := ir.Format(with.Graph, with.Schedule)
		f, err := ir.Load("merged.rir", string(text))
		require.NoError(t, err, "%s", text)
		require.Equal(t, string(text), string(ir.Format(f.Graph, f.Schedule)))
		merged += len(with.Graph.Merged)
		if with.Schedule.Predicted < without.Schedule.Predicted {
			shorter++
		}
	}
	require.Greater(t, merged, densetest.Rounds(60))
	require.Greater(t, shorter, densetest.Rounds(10))
}

// Strategy auto merges launches by itself if the replays are frozen, and else leaves every launch as it is, to be
// changed. Estimates alone must promise a large gain.
func TestAutoMergesFrozenPlans(t *testing.T) {
	r := rand.New(rand.NewPCG(72, 72))
	merged, byEstimates := 0, 0
	for round := range 12 {
		g := launches(r, 4+r.IntN(8))
		opts := Options{Strategy: "auto", Streams: round%2 == 0, Verify: true}
		if round%4 < 2 {
			opts.Costs = newMeasuredCosts(profiles.All()[0], counts(r, g))
		}
		without, err := Plan(g, opts)
		require.NoError(t, err)
		require.Empty(t, without.Graph.Merged)
		opts.Frozen = true
		with, err := Plan(g, opts)
		require.NoError(t, err)
		require.LessOrEqual(t, with.Schedule.Predicted, without.Schedule.Predicted)
		requireAllRun(t, g, with.Graph)
		if with.Graph.Merged == nil {
			continue
		}
		merged++
		if opts.Costs == nil {
			byEstimates++
			require.LessOrEqual(t, float64(with.Schedule.Predicted), 0.8*float64(without.Schedule.Predicted)+1)
		}
		opts.Strategy = "nimble"
		with, err = Plan(g, opts)
		require.NoError(t, err)
		require.Empty(t, with.Graph.Merged, "no other strategy merges by itself")
	}
	require.Greater(t, merged, byEstimates)
	analyzed, err := hazards(launches(r, 9))
	require.NoError(t, err)
	_, err = Plan(analyzed, Options{Strategy: "auto", Frozen: true})
	require.NoError(t, err, "a graph that has dependencies is planned as it is")
}

// counts returns random demands of the launches of g.
func counts(r *rand.Rand, g *ir.Graph) *Measurement {
	m := &Measurement{}
	for v := range g.Ops {
		if g.Ops[v].Launch != nil {
			d := model.Demand{Kind: model.Kernel, Blocks: float64(1 + r.IntN(1<<r.IntN(12))), PerSM: float64(1 + r.IntN(16)), BlockCycles: float64(300 + r.IntN(9000)), L2Bytes: float64(r.IntN(1 << 20)), Memory: true}
			m.Launches = append(m.Launches, costmodel.Launch{Op: ir.OpID(v), Demand: d})
		}
	}
	return m
}

// requireNoLonger checks that a replay, and a sequence of them, takes no longer, whether the merged launches have few or
// many resident blocks.
func requireNoLonger(t *testing.T, opts *Options, with, without *ir.Schedule) {
	t.Helper()
	base, err := opts.forecast(without.Graph)
	require.NoError(t, err)
	for _, roomy := range []bool{false, true} {
		o := *opts
		o.roomy = roomy
		f, err := o.forecast(with.Graph)
		require.NoError(t, err)
		require.LessOrEqual(t, f.makespan(with)/model.Nanosecond, base.makespan(without)/model.Nanosecond)
		require.LessOrEqual(t, f.period(with), base.period(without))
	}
}

// requireAllRun checks that h runs each operation of g once, and that a merged launch has the arguments and the
// accesses of its parts.
func requireAllRun(t *testing.T, g, h *ir.Graph) {
	t.Helper()
	var ran []ir.OpID
	for v := range h.Ops {
		parts := h.Merged[ir.OpID(v)]
		if parts == nil {
			ran = append(ran, traced.Origin(h, ir.OpID(v)))
			continue
		}
		require.Equal(t, parts[0].Op, traced.Origin(h, ir.OpID(v)))
		for _, p := range parts {
			ran = append(ran, p.Op)
			for _, a := range g.Ops[p.Op].Launch.Args {
				require.Contains(t, h.Ops[v].Launch.Args, a)
			}
			require.Subset(t, h.Ops[v].Uses, g.Ops[p.Op].Uses)
		}
	}
	slices.Sort(ran)
	for v := range g.Ops {
		require.Equal(t, ir.OpID(v), ran[v])
	}
	require.Len(t, ran, g.Len())
}

// Sets whose launches depend on each other through other sets are not merged together.
func TestContractedRefusesCycles(t *testing.T) {
	a := graphOf(t, "g", 4, []edge{{0, 1}, {2, 3}})
	assert.Equal(t, [][]ir.OpID{{0, 2}, {1, 3}}, contracted(a, []mergeSet{{0, 2}, {1, 3}}))
	assert.Equal(t, [][]ir.OpID{{0}, {1, 2}, {3}}, contracted(a, []mergeSet{{1, 2}}))
	assert.Nil(t, contracted(a, []mergeSet{{0, 3}, {1, 2}}), "0 and 3 wait for 2, which is with 1, which waits for 0")
	assert.Nil(t, contracted(a, []mergeSet{{0, 1}}))
}

// Launches in the bodies of loops and branches, and beside them, are merged. All have one list of modules, in which
// equal kernels are one.
func TestBodiesAreMerged(t *testing.T) {
	const pair = `
    %0 = launch m.one grid(1) block(32) args(@x) uses(readwrite @x)
    %1 = launch m.one grid(1) block(32) args(@r) uses(readwrite @r)`
	f, err := ir.Load("loop.rir", `graph g {
  module m "m.ptx"
  buffer @r f32[1] device(0) inout
  buffer @x f32[64] device(0) inout
  buffer @y f32[64] device(0) inout
  %0 = launch m.one grid(1) block(32) args(@x) uses(readwrite @x)
  %1 = launch m.one grid(1) block(32) args(@y) uses(readwrite @y)
  %2 = loop until @r below 1 max(9) {`+pair+`
    %2 = branch if @y[0:4] above 2 {`+pair+`
    } else {
      %0 = launch m.one grid(2) block(32) args(@x) uses(readwrite @x)
      %1 = launch m.one grid(2) block(32) args(@r) uses(readwrite @r)
      %2 = launch m.one grid(2) block(32) args(@y) uses(readwrite @y)
    }
  }
}
-- m.ptx --
`+mergedPTX)
	require.NoError(t, err)
	text := string(ir.Format(f.Graph, nil))
	for _, streams := range []bool{false, true} {
		opts := Options{Strategy: "serial", Streams: streams, Verify: true}
		without, err := Plan(f.Graph, opts)
		require.NoError(t, err)
		opts.Also = []string{"merge"}
		plan, err := Plan(f.Graph, opts)
		require.NoError(t, err)
		require.Less(t, plan.Schedule.Predicted, without.Schedule.Predicted)
		require.NoError(t, ir.VerifySchedule(plan.Schedule))
		assert.Equal(t, text, string(ir.Format(f.Graph, nil)), "the traced program is as before")

		sizes := func(g *ir.Graph) (parts []int) {
			for v := range g.Ops {
				if p := g.Merged[ir.OpID(v)]; p != nil {
					parts = append(parts, len(p))
				}
			}
			return parts
		}
		body := plan.Graph.Ops[1].Control.Bodies[0]
		assert.Equal(t, []int{2}, sizes(plan.Graph))
		assert.Equal(t, []int{2}, sizes(body))
		assert.Equal(t, []int{2}, sizes(body.Ops[1].Control.Bodies[0]))
		assert.Equal(t, []int{3}, sizes(body.Ops[1].Control.Bodies[1]))
		assert.Equal(t, 2, plan.Graph.Generated, "for two and for three parts")
	}
}

// Two parts on a device with 100 registers for each of 640 threads, computed by hand.
func TestTogether(t *testing.T) {
	p := *profiles.All()[0]
	p.WarpLatency, p.ClockMHz = 10*model.Nanosecond, 1000
	p.Limits = model.Limits{ThreadsPerSM: 640, ThreadsPerBlock: 640, BlocksPerSM: 32, RegistersPerSM: 64000, RegistersPerWarp: 32, Schedulers: 4, SharedPerSM: 1000, SharedPerBlock: 1000}
	op := &ir.Op{Kind: ir.KindLaunch, Launch: &ir.Launch{Block: ir.Dim3{X: 128, Y: 1, Z: 1}, Args: make([]ir.Arg, 2)}}
	parts := []mergedPart{{Launch: &ir.Launch{Block: ir.Dim3{X: 128, Y: 1, Z: 1}}}, {Launch: &ir.Launch{Block: ir.Dim3{X: 8, Y: 8, Z: 1}}}}
	demands := []model.Demand{
		{Kind: model.Kernel, Blocks: 30, PerSM: 5, BlockCycles: 1000, Bytes: 10, Updates: 4, Lines: 1, Work: unit.Work{unit.FP32: 7}},
		{Kind: model.Kernel, Blocks: 10, PerSM: 10, BlockCycles: 500, SlowestCycles: 2000, Bytes: 5, Updates: 2, Lines: 2, Memory: true},
	}
	d := together(&p, op, parts, demands, residentBlocks(&p.Limits, op.Launch, parts, demands))
	assert.EqualValues(t, 40, d.Blocks)
	assert.EqualValues(t, 15, d.Bytes)
	assert.EqualValues(t, 3, d.Lines)
	assert.True(t, d.Memory)
	assert.EqualValues(t, 7, d.Work[unit.FP32])
	assert.EqualValues(t, selectInstructions*(30*4+10*2), d.Work[unit.Branch])
	// The shorter part takes half, so that each block takes a quarter longer; the second starts two more warps, 10 cycles each.
	assert.InDelta(t, (30*(1250+30)+10*(625+30+20))/40.0, d.BlockCycles, 1e-9)
	assert.InDelta(t, 2500+30+20, d.SlowestCycles, 1e-9)
	// Five blocks of 128 threads fit with up to 100 registers, and with the two of an argument only four.
	assert.EqualValues(t, 4, d.PerSM)

	// 40 blocks on 2 multiprocessors, which hold 4 of them: 16 warps instead of 5 times 4 and of 5 times 2.
	p.SMs, parts[1].Barriers = 2, 3
	crowded := together(&p, op, parts, demands, 4)
	assert.InDelta(t, d.BlockCycles+10*3*des.BarrierCycles*(16-5*2)/40.0, crowded.BlockCycles, 1e-9)

	op.Uses = []ir.Access{{Range: ir.Range{Lo: 0, Hi: 4}, Mode: ir.Reduce}, {Range: ir.Range{Lo: 4, Hi: 8}, Mode: ir.Reduce}}
	assert.EqualValues(t, 2, together(&p, op, parts, demands, residentBlocks(&p.Limits, op.Launch, parts, demands)).Lines, "both update one line")
	demands[0].Lines = 0
	assert.Zero(t, together(&p, op, parts, demands, residentBlocks(&p.Limits, op.Launch, parts, demands)).Lines, "a part updates all of L2")
}

func TestMeasuredCostsOfMergedLaunches(t *testing.T) {
	g := launches(rand.New(rand.NewPCG(5, 5)), 12)
	p := profiles.All()[0]
	counted := map[ir.OpID]model.Demand{}
	for v := range g.Ops {
		if g.Ops[v].Launch != nil {
			counted[ir.OpID(v)] = model.Demand{Kind: model.Kernel, Blocks: float64(v + 1), PerSM: 8, BlockCycles: 500}
		}
	}
	costs := measuredCosts{counted: counted, declared: newDeclaredCosts(p), profile: p}
	plan, err := Plan(g, Options{Also: []string{"merge"}, Costs: costs, Verify: true})
	require.NoError(t, err)
	require.NotEmpty(t, plan.Graph.Merged)
	for v, parts := range plan.Graph.Merged {
		want := 0.0
		for _, part := range parts {
			want += float64(part.Op + 1)
		}
		assert.Equal(t, want, costs.Demand(plan.Graph, v).Blocks)
		delete(counted, parts[0].Op)
		assert.Equal(t, costs.declared.Demand(plan.Graph, v), costs.Demand(plan.Graph, v), "a part that was not counted")
	}
}
