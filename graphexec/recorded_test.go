package graphexec_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// TestARecordedLoopIsReplayedFromItsFile records a program whose middle is a loop with a branch, plans it, writes the plan
// and replays what is read back.
func TestARecordedLoopIsReplayedFromItsFile(t *testing.T) {
	dev, err := sim.New(sim.Options{Race: sim.RaceOn})
	require.NoError(t, err)
	tr := tracer.New(dev, "recorded", tracer.Deferred)
	x, y := tr.Alloc("x", ir.U32, 1, ir.InOut), tr.Alloc("y", ir.U32, 1, ir.InOut)
	z := tr.Alloc("z", ir.U32, 2, ir.Output)
	k := tr.Module("m.ptx", increment).Kernel("increment")
	one := tracer.Linear(1, 1)
	tr.Launch(k, one, y)
	tr.Loop(x, ir.AtLeast, 10, tracer.Limits{Iterations: 100, CheckEvery: 4}, func() {
		tr.Launch(k, one, x)
		tr.Branch(x, ir.Above, 6, func() { tr.Launch(k, one, y) }, nil)
	})
	tr.Copy(z.Slice(0, 1), x)
	tr.Copy(z.Slice(1, 2), y)
	trace, err := tr.Finish()
	require.NoError(t, err)
	assert.Equal(t, ir.KindLoop, trace.Graph.Ops[1].Kind)
	inner := trace.Graph.Ops[1].Control.Bodies[0].Ops[0]
	assert.NotZero(t, inner.Pos.Line)
	plan, err := optimizer.PlanOn(dev, trace, optimizer.Options{Verify: true})
	require.NoError(t, err)
	f, err := ir.Load("recorded.rir", string(ir.Format(plan.Graph, plan.Schedule)))
	require.NoError(t, err)
	for _, s := range []*ir.Schedule{plan.Schedule, f.Schedule} {
		for _, form := range graphexec.Backends() {
			require.NoError(t, tracer.Write(x, []uint32{0}))
			require.NoError(t, tracer.Write(y, []uint32{0}))
			exec, err := graphexec.Instantiate(dev, s, trace, form)
			require.NoError(t, err)
			require.NoError(t, exec.Replay(context.Background()))
			require.NoError(t, exec.Wait(context.Background()))
			var left [2]uint32
			require.NoError(t, tracer.Read(left[:], z))
			assert.Equal(t, [2]uint32{12, 1 + 6}, left, "checked every 4 iterations; above 6 in 7 to 12")
			require.NoError(t, exec.Close())
		}
	}
	require.NoError(t, device.Join(trace.Close(), dev.Close()))
}
