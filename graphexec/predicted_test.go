package graphexec_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// TestLoopsTakeThePredictedTime compares predictions with virtual times, of random programs whose loops run to their limits
// and whose branches have equal bodies.
func TestLoopsTakeThePredictedTime(t *testing.T) {
	for seed := range uint64(20) {
		c := controlled{rand.New(rand.NewPCG(seed, 47)), newControlled(seed, 0, 0)}
		g := c.g
		scalar := ir.Range{Buffer: 0, Lo: 0, Hi: 4}
		moves := func(n int) *ir.Graph { // without kernels, whose times are estimates
			b := c.body(0, 0)
			for len(b.Ops) < n {
				if op := c.op(0); op.Kind != ir.KindLaunch {
					b.Ops = append(b.Ops, op)
				}
			}
			return b
		}
		body := moves(2)
		never := ir.Condition{Scalar: scalar, Is: ir.Above, Value: 1e9}
		body.Ops = append(body.Ops, ir.Op{Kind: ir.KindMemset, Cost: -1, Memset: &ir.Memset{Dst: scalar, Value: ir.Scalar{Type: ir.U32, Bits: 3}}})
		inner := ir.ControlOp(ir.KindLoop, ir.Control{Condition: never, Limit: 1 + c.Int64N(20), Every: 1 + c.Int64N(3), Bodies: []*ir.Graph{body}})
		switch seed % 4 {
		case 1:
			inner = ir.ControlOp(ir.KindBranch, ir.Control{Condition: never, Bodies: []*ir.Graph{body, body}})
		case 2:
			around := moves(1)
			around.Ops = append(around.Ops, inner)
			inner = ir.ControlOp(ir.KindLoop, ir.Control{Condition: never, Limit: 3, Every: 1, Bodies: []*ir.Graph{around}})
		case 3:
			around := moves(1)
			around.Ops = append(around.Ops, inner, ir.ControlOp(ir.KindBranch, ir.Control{Condition: never, Bodies: []*ir.Graph{body, body}}))
			inner = ir.ControlOp(ir.KindLoop, ir.Control{Condition: never, Limit: 4, Every: 1, Bodies: []*ir.Graph{around}})
		}
		g.Ops = append(append(moves(1).Ops, inner), moves(1).Ops...)
		require.NoError(t, ir.Verify(g))
		for _, form := range graphexec.Backends() {
			plan, err := optimizer.Plan(g, optimizer.Options{Streams: form == graphexec.Streams, Bound: true})
			require.NoError(t, err)
			if form == graphexec.Graph {
				assert.LessOrEqual(t, plan.Bound, plan.Schedule.Predicted)
			}
			dev, err := sim.New(sim.Options{})
			require.NoError(t, err)
			m := newMemory(t, dev, g)
			m.zero()
			exec, err := graphexec.Instantiate(dev, plan.Schedule, m, form)
			require.NoError(t, err)
			start := dev.Now()
			require.NoError(t, exec.Replay(context.Background()))
			require.NoError(t, exec.Wait(context.Background()))
			took, predicted := float64(dev.Now()-start), float64(plan.Schedule.Predicted)
			t.Logf("seed %d, %v: predicted %.0f ns, took %.0f ns", seed, form, predicted, took)
			assert.InDelta(t, predicted, took, 3000+0.2*predicted, "seed %d, %v\n%s", seed, form, ir.Print(g)) // 3 us for the host's return from Wait
			require.NoError(t, exec.Close())
			require.NoError(t, dev.Close())
		}
	}
}
