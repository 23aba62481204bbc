package optimizer_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/costmodel"
	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// TestPlansOfLoopsAndBranchesAreValid plans random programs and writes and reads the plans.
func TestPlansOfLoopsAndBranchesAreValid(t *testing.T) {
	scheduled := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 31))
		g := irtest.Controlled(r, 1+r.IntN(12), 1+r.IntN(3))
		before := ir.Print(g)
		strategy := []string{"serial", "nimble", "mincover", "listsched", "levels"}[r.IntN(5)]
		also := [][]string{nil, {"memplan"}, {"copyelim", "dce"}, {"unroll(2)"}, {"coarsen", "priorities", "group"}}[r.IntN(5)]
		plan, err := optimizer.Plan(g, optimizer.Options{Strategy: strategy, Also: also, Streams: r.IntN(2) == 0, Verify: true})
		require.NoError(t, err, "seed %d, %s, %v", seed, strategy, also)
		require.Equal(t, before, ir.Print(g), "the program was changed")
		require.NoError(t, ir.Verify(plan.Graph))
		require.NoError(t, ir.VerifySchedule(plan.Schedule))
		for v, bodies := range plan.Schedule.Bodies {
			for i, s := range bodies {
				scheduled++
				require.Equal(t, ir.Reduced, s.Graph.Phase)
				require.Same(t, plan.Graph.Ops[v].Control.Bodies[i], s.Graph)
			}
		}
		text := ir.Format(plan.Graph, plan.Schedule)
		f, err := ir.Load("plan.rir", string(text))
		require.NoError(t, err, "seed %d\n%s", seed, text)
		require.Equal(t, string(text), string(ir.Format(f.Graph, f.Schedule)), "seed %d", seed)
	}
	assert.Greater(t, scheduled, 40)
}

const looping = `graph g {
  module m "m.ptx"
  buffer @x f32[4096] device(0) inout
  buffer @y f32[4096] device(0) inout
  buffer @r f32[1] device(0) inout
  %0 = memset @y u32=0
  %1 = loop until @r below 1 max(1000) every(10) {
    %0 = launch m.a grid(1) block(32) uses(readwrite @x) cost(1us)
    %1 = launch m.b grid(1) block(32) uses(read @x, write @r) cost(2us)
  }
  %2 = memset @x u32=0
}
`

func TestALoopIsPlannedAsOneOperation(t *testing.T) {
	f, err := ir.Load("g.rir", looping)
	require.NoError(t, err)
	plan, err := optimizer.Plan(f.Graph, optimizer.Options{Verify: true})
	require.NoError(t, err)
	s := plan.Schedule
	assert.Equal(t, 2, s.Lanes, "the memset of @y beside the loop")
	assert.Equal(t, []ir.OpID{0, 1}, s.Bodies[1][0].Order)
	assert.Equal(t, "estimated from bytes and shapes; loops run to their limits", plan.Costs)
	body := s.Bodies[1][0].Predicted
	assert.InDelta(t, 3000, body, 1500, "no launch: one behind the other")
	predicted := func(iterations int64) int64 {
		plan, err := optimizer.Plan(f.Graph, optimizer.Options{Iterations: iterations, Bound: true})
		require.NoError(t, err)
		assert.LessOrEqual(t, plan.Bound, plan.Schedule.Predicted)
		assert.Greater(t, 1.2*float64(plan.Bound), float64(plan.Schedule.Predicted))
		return plan.Schedule.Predicted
	}
	ten := predicted(10)
	assert.Equal(t, predicted(1), ten, "the first check")
	assert.Equal(t, predicted(11), predicted(20))
	assert.Equal(t, s.Predicted, predicted(1000), "the limit")
	assert.Equal(t, s.Predicted, predicted(1<<40))
	once := predicted(20) - ten
	assert.InDelta(t, 99*once, s.Predicted-ten, 100)
	assert.Greater(t, once, 10*body, "the device evaluates the condition")
	_, err = optimizer.Plan(f.Graph, optimizer.Options{Iterations: -1})
	assert.ErrorContains(t, err, "-1 iterations of loops are assumed")
	for _, pass := range []string{"rename(2)", "rotate(x:y)"} {
		_, err = optimizer.Plan(f.Graph, optimizer.Options{Also: []string{"unroll(2)", pass}})
		assert.ErrorContains(t, err, "cannot replace buffers in the bodies of loops and branches: leave it out")
	}
	broken := *f.Graph
	op := ir.ControlOp(ir.KindLoop, ir.Control{Bodies: []*ir.Graph{nil}})
	broken.Ops = []ir.Op{op}
	_, err = optimizer.Plan(&broken, optimizer.Options{})
	assert.ErrorIs(t, err, ir.ErrMissing)
	f.Graph.Ops[1].Control.Bodies[0].Ops[0].Uses[0].Buffer = 9
	_, err = optimizer.Plan(f.Graph, optimizer.Options{})
	assert.ErrorContains(t, err, "the body of %1 loop: ")
}

// TestMeasurementsIgnoreWhatBodiesDoNotRun has dependencies, lines and labels in bodies.
func TestMeasurementsIgnoreWhatBodiesDoNotRun(t *testing.T) {
	f, err := ir.Load("g.rir", looping)
	require.NoError(t, err)
	p := profiles.All()[0]
	m, err := costmodel.NewMeasurement(f.Graph, p, nil)
	require.NoError(t, err)
	plan, err := optimizer.Plan(f.Graph, optimizer.Options{})
	require.NoError(t, err)
	require.NoError(t, m.Check(plan.Graph, p), "dependencies in the body")
	op := &f.Graph.Ops[1].Control.Bodies[0].Ops[0]
	op.Pos, op.Label = &ir.Position{File: "other.go", Line: 8}, "a label"
	require.NoError(t, m.Check(f.Graph, p))
	op.Launch.Entry = "other"
	require.Error(t, m.Check(f.Graph, p))
}

// TestSearchesPredictLoopsAsPlansDo plans loops by the strategies that compare many plans.
func TestSearchesPredictLoopsAsPlansDo(t *testing.T) {
	for seed := uint64(6); seed < 12; seed++ {
		r := rand.New(rand.NewPCG(seed, 37))
		g := irtest.Controlled(r, 4+r.IntN(8), 2)
		for _, streams := range []bool{false, true} {
			of := func(strategy string) int64 {
				plan, err := optimizer.Plan(g, optimizer.Options{Strategy: strategy, Streams: streams, Verify: true})
				require.NoError(t, err)
				return plan.Schedule.Predicted
			}
			least := min(of("serial"), of("nimble"), of("mincover"))
			assert.LessOrEqual(t, of("auto"), least, "seed %d, streams %v\n%s", seed, streams, ir.Print(g))
			assert.LessOrEqual(t, of("search(200)"), of("auto"), "seed %d, streams %v", seed, streams)
		}
	}
}
