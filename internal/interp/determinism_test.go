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
	for _, workers := range []int{0, 2, 8} {
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

func TestRacingBlocksLeaveWhatGridOrderDoes(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 8} {
		d := open(t, "racy.ptx", racy)
		for entry, want := range map[string]uint32{"last": 4999, "count": 5000} {
			for range 4 { // the second is not tried side by side, the fourth is
				out := buffer(d, entry, []uint32{0})
				d.run(entry, Launch{Grid: dims(5000, 1, 1), Block: dims(1, 1, 1), Params: params(out), Workers: workers})
				require.Equal(t, want, contents[uint32](d, out)[0], "%s on %d workers", entry, workers)
			}
		}
	}
}

// mixed has every kind of access to one array that blocks may share: bytes of
// one word, words that blocks update, and words that one block updates and
// another reads. Word 0 is summed, word 1 read back, words from 4 on are a byte
// for each block.
const mixed = `
.version 7.8
.target sm_75
.address_size 64
.visible .entry mixed(.param .u64 out, .param .u32 reads)
{
	.reg .b64 %rd<6>;
	.reg .b32 %r<6>;
	.reg .f32 %f<4>;
	.reg .pred %p<3>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r5, [reads];
	mov.u32 %r1, %ctaid.x;
	cvt.u64.u32 %rd2, %r1;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u8 [%rd3+16], %r1;
	cvt.rn.f32.u32 %f1, %r1;
	rcp.rn.f32 %f2, %f1;
	setp.eq.u32 %p1, %r1, 0;
	@!%p1 red.global.add.f32 [%rd1], %f2;
	setp.ne.u32 %p2, %r1, %r5;
	@%p2 bra DONE;
	ld.global.f32 %f3, [%rd1];
	st.global.f32 [%rd1+4], %f3;
DONE:
	ret;
}
`

func TestSharedBytesAndUpdates(t *testing.T) {
	const blocks = 3000
	var sum, before float32
	bytes := make([]byte, blocks)
	for i := range blocks {
		bytes[i] = byte(i)
		if i > 0 {
			sum += 1 / float32(i)
		}
		if i == 777 {
			before = sum
		}
	}
	for _, workers := range []int{0, 1, 2, 3, 8} {
		d := open(t, "mixed.ptx", mixed)
		for _, reader := range []uint32{blocks, 777} { // nobody reads, so blocks run side by side; then one does
			out := buffer(d, "out", make([]byte, 16+blocks))
			d.run("mixed", Launch{Grid: dims(blocks, 1, 1), Block: dims(1, 1, 1), Workers: workers, Params: params(out, reader)})
			words := contents[float32](d, out)
			require.Equal(t, sum, words[0], "%d workers", workers)
			if reader < blocks {
				require.Equal(t, before, words[1], "%d workers", workers)
			}
			require.Equal(t, bytes, contents[byte](d, out)[16:], "%d workers", workers)
			clashes := int32(0)
			if reader < blocks && workers > 1 {
				clashes = 1
			}
			if workers != 0 {
				require.Equal(t, clashes, d.kernel("mixed").backoff.clashes.Load(), "%d workers", workers)
			}
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
	require.InDelta(t, 1, s.Slowest.Trips, 0, "the two loads overlap")
	require.Less(t, s.Slowest.Cycles, 200.0)
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

// A launch that has been run before allocates nothing, on any number of workers.
func TestLaunchesAllocateNothing(t *testing.T) {
	d := openKernels(t)
	const n = 100_000
	x, y, z := buffer(d, "x", random(n, 1)), buffer(d, "y", random(n, 2)), buffer(d, "z", make([]float32, 1))
	launches := map[string]Launch{
		"axpy":   {Grid: dims(n/128+1, 1, 1), Block: dims(128, 1, 1), Params: params(float32(2), x, y, int32(n))},
		"reduce": {Grid: dims(64, 1, 1), Block: dims(128, 1, 1), Params: params(x, y, z, int32(n))},
	}
	for name, l := range launches {
		k := d.kernel(name)
		for _, l.Workers = range []int{1, 2, 3} {
			launch := func() { _, _ = k.Run(d.mem, l) }
			// Which engine touches which pages varies, so room may still be made in a
			// later launch; but there is an end to it.
			allocs := 1.0
			for i := 0; i < 20 && allocs > 0; i++ {
				allocs = testing.AllocsPerRun(2, launch)
			}
			require.Zero(t, allocs, "%s on %d workers", name, l.Workers)
		}
	}
}

// chained has blocks that fault unless each finds the value of the previous one, and many
// updates of one word.
const chained = `
.version 7.8
.target sm_75
.address_size 64
.visible .entry chain(.param .u64 out)
{
	.reg .b64 %rd<3>;
	.reg .b32 %r<4>;
	.reg .pred %p;
	ld.param.u64 %rd1, [out];
	mov.u64 %rd2, 0;
	mov.u32 %r1, %ctaid.x;
	ld.global.u32 %r2, [%rd1];
	setp.ne.u32 %p, %r1, %r2;
	@%p st.global.u32 [%rd2], %r1;
	add.u32 %r3, %r1, 1;
	st.global.u32 [%rd1], %r3;
	ret;
}
.visible .entry updates(.param .u64 out, .param .u32 n)
{
	.reg .b64 %rd<3>;
	.reg .b32 %r<4>;
	.reg .pred %p;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [n];
AGAIN:
	red.global.add.u32 [%rd1], %r1;
	sub.u32 %r1, %r1, 1;
	setp.ne.u32 %p, %r1, 0;
	@%p bra AGAIN;
	ret;
}
`

// What goes wrong only because blocks run side by side does not show.
func TestFaultsOfOrderDoNotShow(t *testing.T) {
	for _, workers := range []int{2, 8} {
		d := open(t, "chained.ptx", chained)
		out := buffer(d, "out", []uint32{0})
		d.run("chain", Launch{Grid: dims(500, 1, 1), Block: dims(32, 1, 1), Workers: workers, Params: params(out)})
		require.Equal(t, uint32(500), contents[uint32](d, out)[0], "%d workers", workers)
	}
}

// More updates than there is room for are executed in grid order.
func TestTooManyUpdatesToPutDown(t *testing.T) {
	d := open(t, "chained.ptx", chained)
	out := buffer(d, "out", []uint32{0})
	const blocks, threads, n = 64, 1024, 36
	d.run("updates", Launch{Grid: dims(blocks, 1, 1), Block: dims(threads, 1, 1), Workers: 2, Params: params(out, uint32(n))})
	require.Equal(t, uint32(blocks*threads*n*(n+1)/2), contents[uint32](d, out)[0])
	require.Equal(t, int32(1), d.kernel("updates").backoff.clashes.Load())
}

// A launch that touches more memory than may be kept is run in grid order.
func TestTooManyPagesToKeep(t *testing.T) {
	defer func(n int64) { maxOpened = n }(maxOpened)
	maxOpened = 20
	d := openKernels(t)
	const n = 50_000
	x, y := random(n, 1), random(n, 2)
	out := buffer(d, "y", y)
	d.run("axpy", Launch{Grid: dims(n/128+1, 1, 1), Block: dims(128, 1, 1), Workers: 2, Params: params(float32(2), buffer(d, "x", x), out, int32(n))})
	for i, got := range contents[float32](d, out) {
		require.Equal(t, 2*x[i]+y[i], got, i) // twice a float is exact
	}
	require.Equal(t, int32(1), d.kernel("axpy").backoff.clashes.Load())
}

// sharing is a kernel whose warps take numbers below n from a counter, one at a time,
// and note for each which block had it.
const sharing = `
.version 7.8
.target sm_75
.address_size 64
.visible .entry sharing(.param .u64 counter, .param .u64 owner, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b64 %rd<5>;
	.reg .b32 %r<5>;
	ld.param.u64 %rd1, [counter];
	ld.param.u64 %rd2, [owner];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x;
NEXT:
	atom.global.add.u32 %r3, [%rd1], 1;
	setp.ge.u32 %p1, %r3, %r1;
	@%p1 ret;
	mul.wide.u32 %rd3, %r3, 4;
	add.s64 %rd4, %rd2, %rd3;
	ld.global.u32 %r4, [%rd4];
	st.global.u32 [%rd4], %r2;
	bra NEXT;
}`

// TestBlocksThatShareWorkTakeTurns has a grid of which few blocks fit on the device at
// once. These do the work, in equal parts, and the touched memory is estimated from them.
func TestBlocksThatShareWorkTakeTurns(t *testing.T) {
	const n, grid, resident, warps = 36_000, 1000, 12, 3
	d := open(t, "sharing.ptx", sharing)
	counter, owner := buffer(d, "counter", make([]uint32, 1)), buffer(d, "owner", make([]uint32, n))
	block := dims(32*(warps-1)+1, 1, 1)
	stats := d.run("sharing", Launch{Grid: dims(grid, 1, 1), Block: block, Resident: resident, Params: params(counter, owner, uint32(n))})

	had := map[uint32]int{}
	for _, b := range contents[uint32](d, owner) {
		had[b]++
	}
	require.Len(t, had, resident)
	for b := range uint32(resident) {
		require.InDelta(t, n/resident, had[b], 65, "block %d, of which a warp takes up to 32 numbers in a turn", b)
	}
	require.EqualValues(t, n+grid*block[0], contents[uint32](d, counter)[0], "every thread ends with a number beyond")
	require.Equal(t, []Touch{{counter, true, true}, {owner, true, true}}, stats.Touched)
	require.InEpsilon(t, 4*n, stats.Extents[1].Written, 0.1)
	require.InEpsilon(t, 4*n, stats.Extents[1].Read, 0.1)
}
