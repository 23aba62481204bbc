package graphexec_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
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

// pairs is a program of launches that can be merged: two of unsharpen with a parameter, two of square on slices whose
// length is a parameter, and one of combine.
type pairs struct {
	dev     device.Device
	trace   *tracer.Trace
	buffers []tracer.Buffer
}

const pairLen = 64

func newPairs(t *testing.T) *pairs {
	t.Helper()
	dev, err := sim.New(sim.Options{Memo: sim.MemoOff, Race: sim.RaceOn})
	require.NoError(t, err)
	x := &run{t: t, tr: tracer.New(dev, "pairs", tracer.Deferred)}
	p := &pairs{dev: dev}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		p.buffers = append(p.buffers, x.tr.Alloc(name, ir.F32, pairLen, ir.InOut))
	}
	b := p.buffers
	amount, n := x.tr.Param("amount", ir.F32, 0.25), x.tr.Param("n", ir.I32, pairLen/2)
	unsharpen, square, combine := x.kernel("unsharpen"), x.kernel("square"), x.kernel("combine")
	x.tr.Launch(unsharpen, tracer.Linear(1, 32), b[0], b[1], b[2], amount, pairLen)
	x.tr.Launch(unsharpen, tracer.Linear(2, 32), b[0], b[3], b[4], amount, pairLen)
	x.tr.Launch(square, tracer.Linear(1, 32), b[2].Slice(0, pairLen/2), b[5].Slice(0, pairLen/2), n)
	x.tr.Launch(square, tracer.Linear(1, 32), b[4].Slice(0, pairLen/2), b[6].Slice(0, pairLen/2), n)
	x.tr.Launch(combine, tracer.Linear(1, 32), b[2], b[4], b[5], b[0], pairLen)
	p.trace, err = x.tr.Finish()
	require.NoError(t, err)
	return p
}

// fill gives each buffer contents of its own.
func (p *pairs) fill(t *testing.T) {
	for k, b := range p.buffers {
		data := make([]float32, pairLen)
		for i := range data {
			data[i] = float32(i*(k+1)%7) / 8
		}
		require.NoError(t, tracer.Write(b, data))
	}
}

func (p *pairs) contents(t *testing.T) (all [][]float32) {
	for _, b := range p.buffers {
		data := make([]float32, pairLen)
		require.NoError(t, tracer.Read(data, b))
		all = append(all, data)
	}
	return all
}

// instantiate plans with optional passes.
func (p *pairs) instantiate(t *testing.T, form graphexec.Backend, also ...string) (*graphexec.Exec, *ir.Graph) {
	plan, err := optimizer.Plan(p.trace.Graph, optimizer.Options{Also: also, Streams: form == graphexec.Streams, Verify: true})
	require.NoError(t, err)
	x, err := graphexec.Instantiate(p.dev, plan.Schedule, p.trace, form)
	require.NoError(t, err)
	return x, plan.Graph
}

// Parameters, rebound and swapped buffers of merged launches have the effect that they have on single ones.
func TestChangesOfMergedLaunches(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		p := newPairs(t)
		other, err := p.dev.Alloc(4 * pairLen)
		require.NoError(t, err)
		changes := [][]graphexec.Change{
			{graphexec.Param("amount", float32(0.75))},
			{graphexec.Swap("a", "b")},
			{graphexec.Param("n", 8), graphexec.Swap("c", "e")},
			{graphexec.Rebind("f", other)},
		}
		var want [][][]float32
		for _, also := range [][]string{nil, {"merge"}} {
			x, g := p.instantiate(t, form, also...)
			require.Equal(t, also != nil, len(g.Merged) == 2, ir.Print(g))
			for i, change := range changes {
				require.NoError(t, x.Apply(change...))
				p.fill(t)
				require.NoError(t, x.Replay(context.Background()))
				require.NoError(t, x.Wait(context.Background()))
				if also == nil {
					want = append(want, p.contents(t))
				} else {
					assert.Equal(t, want[i], p.contents(t), "%v", change)
				}
			}
			require.NoError(t, x.Apply(graphexec.Param("amount", float32(0.25)), graphexec.Param("n", pairLen/2), graphexec.Swap("a", "b"), graphexec.Swap("c", "e"),
				graphexec.Rebind("f", p.trace.Pointer(p.buffers[5].ID()))))
			require.NoError(t, x.Close())
			p.trace.Bind(p.buffers[5].ID(), 0)
		}
	})
}

// The text of a plan does not state which launches have been merged. Bound to the trace, it could not be checked.
func TestMergedPlansFromTextAreRefused(t *testing.T) {
	p := newPairs(t)
	plan, err := optimizer.Plan(p.trace.Graph, optimizer.Options{Also: []string{"merge"}})
	require.NoError(t, err)
	text, err := ir.Load("pairs.rir", string(ir.Format(plan.Graph, plan.Schedule)))
	require.NoError(t, err)
	_, err = graphexec.Instantiate(p.dev, text.Schedule, p.trace, graphexec.Graph)
	require.ErrorIs(t, err, ir.ErrOtherTrace)
	assert.ErrorContains(t, err, "module unsharpen_x2 is in the plan alone (a plan from a file cannot have the modules that the passes merge and slice make): plan the graph of that trace")
}

// A plan by strategy auto stays changeable unless its options say that it is frozen.
func TestOnlyFrozenPlansByAutoRefuseChanges(t *testing.T) {
	p := newPairs(t)
	p.fill(t)
	for _, frozen := range []bool{false, true} {
		plan, err := optimizer.PlanOn(p.dev, p.trace, optimizer.Options{Strategy: "auto", Streams: true, Frozen: frozen, Verify: true})
		require.NoError(t, err)
		x, err := graphexec.Instantiate(p.dev, plan.Schedule, p.trace, graphexec.Streams)
		require.NoError(t, err)
		err = x.Apply(graphexec.Enable("%0", false))
		if frozen {
			require.ErrorContains(t, err, "plan without merge and Frozen")
		} else {
			require.NoError(t, err)
		}
		require.NoError(t, x.Set("amount", float32(0.5)))
		require.NoError(t, x.Close())
	}
}

func TestMergedLaunchesRefuseChangesOfOnePart(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		p := newPairs(t)
		x, _ := p.instantiate(t, form, "merge")
		defer x.Close()
		const reason = "one launch runs unsharpen#1, unsharpen#2 together: plan without merge and Frozen"
		for _, name := range []string{"%0", "%1"} {
			require.ErrorContains(t, x.Apply(graphexec.Enable(name, false)), reason)
			require.ErrorContains(t, x.Apply(graphexec.Grid(name, ir.Dim3{X: 1, Y: 1, Z: 1})), reason)
		}
		require.NoError(t, x.Apply(graphexec.Enable("combine", false)), "the others can be switched off")
		var slice *tracer.SliceError
		require.ErrorAs(t, x.Set("n", pairLen), &slice, "the slices of the parts are promises")
		assert.Equal(t, "square", slice.Kernel)
		require.NoError(t, x.Set("n", 8))
	})
}

// Launches in the body of a loop are merged, keep their slices, and refuse changes of one part with their names.
func TestChangesOfMergedLaunchesInBodies(t *testing.T) {
	everyForm(t, func(t *testing.T, dev device.Device, form graphexec.Backend) {
		tr := tracer.New(dev, "body", tracer.Deferred)
		k, step := tr.Module("guarded.ptx", guarded).Kernel("guarded"), tr.Module("m.ptx", increment).Kernel("increment")
		f, i := tr.Alloc("f", ir.U32, 128, ir.InOut), tr.Alloc("i", ir.U32, 1, ir.InOut)
		n := tr.Param("n", ir.U32, 40)
		tr.Loop(i, ir.AtLeast, 3, tracer.Limits{Iterations: 9}, func() {
			tr.Launch(k, tracer.Linear(2, 32), f.Slice(0, 48), n)
			tr.Launch(k, tracer.Linear(2, 32), f.Slice(64, 112), n)
			tr.Launch(step, tracer.Linear(1, 1), i)
		})
		trace, err := tr.Finish()
		require.NoError(t, err)
		plan, err := optimizer.Plan(trace.Graph, optimizer.Options{Strategy: "serial", Also: []string{"merge"}, Streams: form == graphexec.Streams, Verify: true})
		require.NoError(t, err)
		require.Equal(t, 1, mergedIn(plan.Graph))
		x, err := graphexec.Instantiate(dev, plan.Schedule, trace, form)
		require.NoError(t, err)
		for _, written := range []int{40, 48} {
			require.NoError(t, x.Set("n", written))
			require.NoError(t, tracer.Write(f, slices.Repeat([]uint32{999}, 128)))
			require.NoError(t, tracer.Write(i, []uint32{0}))
			require.NoError(t, x.Replay(context.Background()))
			require.NoError(t, x.Wait(context.Background()))
			got := make([]uint32, 128)
			require.NoError(t, tracer.Read(got, f))
			for at := range 128 {
				assert.Equal(t, at%64 < written, got[at] != 999, "%d", at)
			}
		}
		var left *tracer.SliceError
		require.ErrorAs(t, x.Set("n", 49), &left)
		require.ErrorContains(t, x.Apply(graphexec.Enable("%0/%1", false)), "one launch runs loop/guarded#1, loop/guarded#2")
		require.NoError(t, x.Close())
		require.NoError(t, trace.Close())
	})
}

// lookPTX adds elements of two tables of the module. If STORE is a store, kernel stir writes one of them.
const lookPTX = `.version 6.0
.target sm_50
.address_size 64
.const .align 4 .f32 weights[4] = {0f3F800000, 0f40000000, 0f40800000, 0f41000000};
.global .align 4 .f32 offsets[4] = {0f3F000000, 0f3E800000, 0f3E000000, 0f3D800000};
.visible .entry look(.param .u64 y)
{
	.reg .b32 %r<3>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd0, [y];
	mov.u32 %r0, %tid.x;
	and.b32 %r1, %r0, 3;
	mul.wide.u32 %rd1, %r1, 4;
	mov.u64 %rd2, weights;
	add.s64 %rd3, %rd2, %rd1;
	ld.const.f32 %f0, [%rd3];
	mov.u64 %rd4, offsets;
	add.s64 %rd5, %rd4, %rd1;
	ld.global.f32 %f1, [%rd5];
	add.f32 %f2, %f0, %f1;
	mul.wide.u32 %rd6, %r0, 4;
	add.s64 %rd7, %rd0, %rd6;
	st.global.f32 [%rd7], %f2;
	ret;
}
.visible .entry stir()
{
	.reg .f32 %f<1>;
	.reg .b64 %rd<1>;
	mov.f32 %f0, 0f3F800000;
	mov.u64 %rd0, offsets;
	STORE
	ret;
}
`

// TestTablesOfAModule merges launches of a kernel that reads variables of its module, as long as no kernel of the module
// writes them.
func TestTablesOfAModule(t *testing.T) {
	for store, merged := range map[string]bool{"": true, "st.global.f32 [%rd0], %f0;": false} {
		dev, err := sim.New(sim.Options{})
		require.NoError(t, err)
		tr := tracer.New(dev, "tables", tracer.Deferred)
		look := tr.Module("look.ptx", strings.Replace(lookPTX, "STORE", store, 1)).Kernel("look")
		var out []tracer.Buffer
		for i := range 6 {
			out = append(out, tr.Alloc(fmt.Sprint("y", i), ir.F32, 32, ir.Output))
			tr.Launch(look, tracer.Linear(1, 32), out[i])
		}
		trace, err := tr.Finish()
		require.NoError(t, err)
		for _, pass := range []string{"merge", "slice(1ns)"} {
			plan, err := optimizer.Plan(trace.Graph, optimizer.Options{Also: []string{pass}, Verify: true})
			require.NoError(t, err)
			if pass == "merge" {
				assert.Equal(t, merged, plan.Graph.Merged != nil)
			}
			x, err := graphexec.Instantiate(dev, plan.Schedule, trace, graphexec.Graph)
			require.NoError(t, err)
			require.NoError(t, x.Replay(context.Background()))
			for _, b := range out {
				got := make([]float32, 32)
				require.NoError(t, tracer.Read(got, b))
				assert.Equal(t, []float32{1.5, 2.25, 4.125, 8.0625}, got[28:])
			}
			require.NoError(t, x.Close())
		}
		require.NoError(t, trace.Close())
		require.NoError(t, dev.Close())
	}
}
