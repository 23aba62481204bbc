package auto_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/auto"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// count increments a module-scope variable, tell reads it, and put stores through a pointer that it loads.
const hidden = `
.version 7.8
.target sm_75
.address_size 64
.global .u32 total;
.visible .entry count(.param .u32 by)
{
	.reg .b32 %r<4>;
	ld.param.u32 %r1, [by];
	ld.global.u32 %r2, [total];
	add.u32 %r3, %r1, %r2;
	st.global.u32 [total], %r3;
	ret;
}
.visible .entry tell(.param .u64 to)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [to];
	cvta.to.global.u64 %rd2, %rd1;
	ld.global.u32 %r1, [%rd2];
	ld.global.u32 %r2, [total];
	add.u32 %r1, %r1, %r2;
	st.global.u32 [%rd2], %r1;
	ret;
}
.visible .entry point(.param .u64 table, .param .u64 to)
{
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [table];
	ld.param.u64 %rd2, [to];
	cvta.to.global.u64 %rd3, %rd1;
	cvta.to.global.u64 %rd4, %rd2;
	st.global.u64 [%rd3], %rd4;
	ret;
}
.visible .entry put(.param .u64 table, .param .u32 value)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [table];
	ld.param.u32 %r1, [value];
	cvta.to.global.u64 %rd2, %rd1;
	ld.global.u64 %rd3, [%rd2];
	st.global.u32 [%rd3], %r1;
	ret;
}
`

// Accesses to memory that is not an argument keep the order of the program, also in replays.
func TestWhatKernelsReachWithoutBeingPassedIt(t *testing.T) {
	for _, form := range graphexec.Backends() {
		run := func(start func(device.Device) *tracer.Tracer) ([]uint32, auto.Stats) {
			dev, err := sim.New(sim.Options{Race: sim.RaceOn})
			require.NoError(t, err)
			tr := start(dev)
			m := tr.Module("hidden.ptx", hidden)
			count, tell, point, put := m.Kernel("count"), m.Kernel("tell"), m.Kernel("point"), m.Kernel("put")
			x := tr.Alloc("x", ir.U32, 4, ir.InOut)
			y := tr.Alloc("y", ir.U32, 4, ir.InOut)
			table := tr.Alloc("table", ir.U64, 1, ir.InOut)
			require.NoError(t, tracer.Write(x, make([]uint32, 4)))
			require.NoError(t, tracer.Write(y, make([]uint32, 4)))
			one := tracer.Linear(1, 1)
			for i := range 12 {
				tr.Launch(point, one, table, y)
				tr.Launch(count, one, i)
				tr.Launch(tell, one, x)
				tr.Launch(put, one, table, 10*i)
				tr.Launch(tell, one, y)
				tr.Launch(count, one, 1)
				tr.Launch(tell, one, x.Slice(1, 2))
			}
			got := make([]uint32, 8)
			require.NoError(t, tracer.Read(got[:4], x))
			require.NoError(t, tracer.Read(got[4:], y))
			trace, err := tr.Finish()
			require.NoError(t, err)
			require.NoError(t, trace.Close())
			require.NoError(t, dev.Close())
			return got, auto.StatsOf(tr)
		}
		want, _ := run(func(dev device.Device) *tracer.Tracer { return tracer.New(dev, "p", tracer.Eager) })
		got, s := run(func(dev device.Device) *tracer.Tracer {
			return auto.New(dev, "p", auto.Options{Backend: form})
		})
		assert.Equal(t, want, got, "%v", form)
		assert.Equal(t, 70, s.Replayed, "%v: %+v", form, s)
		assert.Equal(t, 20, s.Updates, "two in each replay")
	}
}
