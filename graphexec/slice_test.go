package graphexec_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// halves traces a launch that writes $n elements of its slice of g, the elements [8, 16), and one that reads what follows.
func halves(t *testing.T, n int) (device.Device, *tracer.Trace, error) {
	dev := simulated(t)
	tr := tracer.New(dev, "halves", tracer.Deferred)
	square := (&run{t: t, tr: tr}).kernel("square")
	f, g, h := tr.Alloc("f", ir.F32, 32, ir.InOut), tr.Alloc("g", ir.F32, 64, ir.InOut), tr.Alloc("h", ir.F32, 32, ir.InOut)
	tr.Launch(square, tracer.Linear(1, 32), f, g.Slice(8, 16), tr.Param("n", ir.I32, n))
	tr.Launch(square, tracer.Linear(1, 32), g.Slice(16, 48), h, 32)
	trace, err := tr.Finish()
	return dev, trace, err
}

func TestAParameterMayNotTakeALaunchOutOfItsSlice(t *testing.T) {
	_, _, err := halves(t, 9)
	var left *tracer.SliceError
	require.ErrorAs(t, err, &left, "the first value")
	assert.Equal(t, ir.Range{Buffer: 1, Lo: 32, Hi: 64}, left.Slice)

	dev, trace, err := halves(t, 4)
	require.NoError(t, err)
	own := planned(t, trace.Graph)
	text, err := ir.Parse("halves.rir", string(ir.Format(own.Graph, own)))
	require.NoError(t, err)
	for name, s := range map[string]*ir.Schedule{"traced": own, "text": text.Schedule} {
		forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
			x, err := graphexec.Instantiate(dev, s, trace, form)
			require.NoError(t, err)
			require.NoError(t, x.Set("n", 8), "all of the slice")
			for _, c := range []graphexec.Change{graphexec.Param("n", 9), graphexec.Param("n", 32)} {
				var left *tracer.SliceError
				_, err := x.Preflight(c)
				require.ErrorAs(t, err, &left, name)
				require.ErrorAs(t, x.Apply(c), &left, name)
				assert.Equal(t, ir.Range{Buffer: 1, Lo: 32, Hi: 64}, left.Slice)
				assert.Equal(t, "g", left.Buffer)
				assert.True(t, left.Write)
			}
			require.NoError(t, x.Apply(graphexec.Param("n", 32), graphexec.Param("n", 8)), "only the last value counts")
			require.NoError(t, x.Close())
		})
	}
}

// A plan from text may be bound to a trace with other slices. Its own are those that it orders.
func TestAPlanFromTextKeepsItsOwnSlices(t *testing.T) {
	_, trace, err := halves(t, 4)
	require.NoError(t, err)
	s := planned(t, trace.Graph)
	text, err := ir.Parse("halves.rir", string(ir.Format(s.Graph, s)))
	require.NoError(t, err)
	dev := simulated(t)
	tr := tracer.New(dev, "whole", tracer.Deferred)
	square := (&run{t: t, tr: tr}).kernel("square")
	f, g, h := tr.Alloc("f", ir.F32, 32, ir.InOut), tr.Alloc("g", ir.F32, 64, ir.InOut), tr.Alloc("h", ir.F32, 32, ir.InOut)
	tr.Launch(square, tracer.Linear(1, 32), f, g, tr.Param("n", ir.I32, 4))
	tr.Launch(square, tracer.Linear(1, 32), g, h, 32)
	whole, err := tr.Finish()
	require.NoError(t, err)
	x, err := graphexec.Instantiate(dev, text.Schedule, whole, graphexec.Graph)
	require.NoError(t, err)
	var left *tracer.SliceError
	require.ErrorAs(t, x.Set("n", 32), &left)
	assert.Equal(t, ir.Range{Buffer: 1, Lo: 32, Hi: 64}, left.Slice)
	require.NoError(t, x.Set("n", 8))
	y := instantiate(t, dev, whole, graphexec.Graph)
	require.NoError(t, y.Set("n", 32), "whole buffers promise nothing")
	require.NoError(t, x.Close())
	require.NoError(t, y.Close())
}

// guarded is a kernel that writes the number of each thread below n.
const guarded = `.version 7.8
.target sm_75
.address_size 64
.visible .entry guarded(.param .u64 out, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r5, [n];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r4, %r1, %r2, %r3;
	setp.ge.s32 %p1, %r4, %r5;
	@%p1 ret;
	mul.wide.s32 %rd2, %r4, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r4;
	ret;
}
`

// What a launch of a plan from text would touch with another grid follows from its own arguments, not from those that the
// trace has there.
func TestAGridOfAPlanFromTextIsCheckedByItsOwnLaunch(t *testing.T) {
	dev := simulated(t)
	record := func(n int, after ...int) *tracer.Trace {
		tr := tracer.New(dev, "grids", tracer.Deferred)
		k := tr.Module("guarded.ptx", guarded).Kernel("guarded")
		f := tr.Alloc("f", ir.U32, 128, ir.InOut)
		tr.Launch(k, tracer.Linear(1, 32), f, n)
		for _, n := range after {
			tr.Launch(k, tracer.Linear(1, 32), f.Slice(0, 64), n)
		}
		trace, err := tr.Finish()
		require.NoError(t, err)
		return trace
	}
	for _, test := range []struct {
		name        string
		plan, bound *tracer.Trace
		op          string
		refused     bool
	}{
		{"more than the trace", record(64), record(4), "%0", true},
		{"less than the trace", record(4), record(64), "%0", false},
		{"as the trace", record(64), record(64), "%0", true},
		{"more launches than the trace", record(4, 4, 64), record(4), "%2", true},
		{"more launches, less", record(4, 4, 16), record(4), "%2", false},
		{"beyond a slice", record(4, 128), record(4, 4), "%1", true},
	} {
		s := planned(t, test.plan.Graph)
		text, err := ir.Parse("grids.rir", string(ir.Format(s.Graph, s)))
		require.NoError(t, err)
		forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
			x, err := graphexec.Instantiate(dev, text.Schedule, test.bound, form)
			require.NoError(t, err)
			if err := x.Apply(graphexec.Grid(test.op, ir.Dim3{X: 3, Y: 1, Z: 1})); test.refused {
				require.ErrorContains(t, err, "it would touch @f[0:", test.name)
				require.ErrorContains(t, err, "which is more than the plan contains", test.name)
			} else {
				require.NoError(t, err, test.name)
			}
			require.NoError(t, x.Close())
		})
	}
}
