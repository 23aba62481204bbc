package interp

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestResultsDoNotDependOnWorkers runs kernels with float atomics and with
// independent blocks on 1, 2 and 8 workers: same bytes, same counts.
func TestResultsDoNotDependOnWorkers(t *testing.T) {
	const n = 100_000
	type result struct {
		sum, top []float32
		y        []float32
		stats    []Stats
	}
	run := func(workers int) (r result) {
		d := openKernels(t)
		x, y := buffer(d, "x", random(n, 1)), buffer(d, "y", random(n, 2))
		z, top := buffer(d, "z", make([]float32, 1)), buffer(d, "top", make([]float32, 1))
		r.stats = []Stats{
			d.run("reduce", Launch{Grid: dims(64, 1, 1), Block: dims(128, 1, 1), Workers: workers, Params: params(x, y, z, int32(n))}),
			d.run("maxk", Launch{Grid: dims(64, 1, 1), Block: dims(128, 1, 1), Workers: workers, Params: params(x, top, int32(n))}),
			d.run("axpy", Launch{Grid: dims(n/128+1, 1, 1), Block: dims(128, 1, 1), Workers: workers, Params: params(float32(2), x, y, int32(n))}),
		}
		r.sum, r.top, r.y = slices.Clone(contents[float32](d, z)), contents[float32](d, top), contents[float32](d, y)
		return r
	}
	want := run(1)
	for _, workers := range []int{2, 8} {
		require.Equal(t, want, run(workers), "%d workers", workers)
	}
}

// racy has blocks that overwrite one another and blocks that count without
// atomics: on a GPU either has no fixed result, here it is that of grid order.
const racy = `
.version 7.8
.target sm_75
.address_size 64
.visible .entry last(.param .u64 out)
{
	.reg .b64 %rd<3>;
	.reg .b32 %r<2>;
	ld.param.u64 %rd1, [out];
	cvta.to.global.u64 %rd2, %rd1;
	mov.u32 %r1, %ctaid.x;
	st.global.u32 [%rd2], %r1;
	ret;
}
.visible .entry count(.param .u64 out)
{
	.reg .b64 %rd<3>;
	.reg .b32 %r<3>;
	ld.param.u64 %rd1, [out];
	cvta.to.global.u64 %rd2, %rd1;
	ld.global.u32 %r1, [%rd2];
	add.s32 %r2, %r1, 1;
	st.global.u32 [%rd2], %r2;
	ret;
}
`

func TestRacingBlocksRunInGridOrder(t *testing.T) {
	for range 3 {
		d := open(t, "racy.ptx", racy)
		for entry, want := range map[string]uint32{"last": 4999, "count": 5000} {
			out := buffer(d, entry, []uint32{0})
			d.run(entry, Launch{Grid: dims(5000, 1, 1), Block: dims(1, 1, 1), Params: params(out)})
			require.Equal(t, want, contents[uint32](d, out)[0], entry)
		}
	}
}

func TestTouchedListsAllocationsByAddress(t *testing.T) {
	d := openKernels(t)
	x, unused, y := buffer(d, "x", random(64, 1)), buffer(d, "unused", random(64, 1)), buffer(d, "y", random(64, 2))
	s := d.run("axpy", Launch{Grid: dims(2, 1, 1), Block: dims(32, 1, 1), Params: params(float32(2), x, y, int32(64))})
	require.Equal(t, []Touch{{x, true, false}, {y, true, true}}, s.Touched)
	z := buffer(d, "z", make([]float32, 1))
	s = d.run("reduce", Launch{Grid: dims(2, 1, 1), Block: dims(32, 1, 1), Params: params(x, unused, z, int32(64))})
	require.Equal(t, []Touch{{x, true, false}, {unused, true, false}, {z, true, true}}, s.Touched)
	require.Equal(t, int64(2), s.Atomics)
}

// Counts of a kernel that is easy to count by hand: 8 sectors of 32 bytes are
// two warps' contiguous float loads, and one lane of a strided access is one.
func TestStatsCountSectors(t *testing.T) {
	d := openKernels(t)
	x, y := buffer(d, "x", random(64, 1)), buffer(d, "y", random(64, 2))
	s := d.run("axpy", Launch{Grid: dims(1, 1, 1), Block: dims(64, 1, 1), Params: params(float32(2), x, y, int32(64))})
	require.Equal(t, int64(16), s.SectorsRead)
	require.Equal(t, int64(8), s.SectorsWrite)
	require.Equal(t, int64(1), s.Blocks)
	require.Equal(t, int64(2), s.Warps)
	require.Equal(t, s.WarpInsts*32, s.LaneInsts)
	require.Greater(t, s.BlockCycles, 500.0)
	require.Less(t, s.BlockCycles, 700.0, "the two loads overlap")
}

// A sample of a regular kernel predicts the counts of the whole.
func TestSampledLaunchScalesCounts(t *testing.T) {
	d := openKernels(t)
	const n = 256 * 100
	x, y := buffer(d, "x", random(n, 1)), buffer(d, "y", random(n, 2))
	l := Launch{Grid: dims(100, 1, 1), Block: dims(256, 1, 1), Params: params(float32(2), x, y, int32(n))}
	whole := d.run("axpy", l)
	for _, sample := range []int64{1, 4, 50, 100, 1000} {
		l.Sample = sample
		require.Equal(t, whole, d.run("axpy", l), "%d blocks", sample)
	}
}
