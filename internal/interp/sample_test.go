package interp

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// columns lets each of its first f threads walk down a column of x, which has n rows of f
// words, and store a result in one word of y.
const columns = `
.version 7.8
.target sm_75
.address_size 64
.visible .entry columns(.param .u64 x, .param .u64 y, .param .u32 n, .param .u32 f)
{
	.reg .pred %p<3>;
	.reg .b64 %rd<6>;
	.reg .b32 %r<9>;
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [y];
	ld.param.u32 %r1, [n];
	ld.param.u32 %r2, [f];
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %ntid.x;
	mov.u32 %r5, %tid.x;
	mad.lo.s32 %r6, %r3, %r4, %r5;
	setp.ge.u32 %p1, %r6, %r2;
	@%p1 bra DONE;
	mul.wide.u32 %rd3, %r6, 4;
	add.s64 %rd1, %rd1, %rd3;
	add.s64 %rd2, %rd2, %rd3;
	mul.wide.u32 %rd4, %r2, 4;
	mov.u32 %r7, 0;
ROW:
	ld.global.u32 %r8, [%rd1];
	st.global.u32 [%rd2], %r8;
	add.s64 %rd1, %rd1, %rd4;
	add.s64 %rd2, %rd2, %rd4;
	add.u32 %r7, %r7, 1;
	setp.lt.u32 %p2, %r7, %r1;
	@%p2 bra ROW;
DONE:
	ret;
}`

// agree requires two counts to agree to within a share of the first.
func agree(t *testing.T, what string, whole, sampled, within float64) {
	t.Helper()
	require.LessOrEqual(t, math.Abs(sampled-whole), within*whole, "%s: %v whole, %v sampled", what, whole, sampled)
}

// sameCounts requires that the counts of a sample are close to those of the whole launch.
func sameCounts(t *testing.T, whole, sampled Stats, within float64) {
	t.Helper()
	require.Equal(t, whole.Blocks, sampled.Blocks)
	require.Equal(t, whole.Warps, sampled.Warps)
	agree(t, "instructions", float64(whole.WarpInsts), float64(sampled.WarpInsts), within)
	agree(t, "of lanes", float64(whole.LaneInsts), float64(sampled.LaneInsts), within)
	agree(t, "work", whole.Work.Total(), sampled.Work.Total(), within)
	agree(t, "sectors read", float64(whole.SectorsRead), float64(sampled.SectorsRead), within)
	agree(t, "sectors written", float64(whole.SectorsWrite), float64(sampled.SectorsWrite), within)
	agree(t, "cycles", whole.Path.Cycles, sampled.Path.Cycles, within)
	agree(t, "round trips", whole.Path.Trips, sampled.Path.Trips, within)
	require.Equal(t, whole.Touched, sampled.Touched)
	for i := range whole.Extents {
		agree(t, "bytes read", float64(whole.Extents[i].Read), float64(sampled.Extents[i].Read), max(within, 0.05))
		agree(t, "bytes written", float64(whole.Extents[i].Written), float64(sampled.Extents[i].Written), max(within, 0.05))
	}
}

// Work that the first blocks of a grid have all of is not taken for that of every block,
// nor overlooked.
func TestSamplesKnowTheHeadOfAGrid(t *testing.T) {
	const n, f = 200, 200
	for _, threads := range []uint32{32, 128, 256, 1024} {
		d := open(t, "columns.ptx", columns)
		x, y := buffer(d, "x", make([]uint32, n*f)), buffer(d, "y", make([]uint32, n*f))
		l := Launch{Grid: dims(64, 1, 1), Block: dims(threads, 1, 1), Params: params(x, y, uint32(n), uint32(f))}
		whole := d.run("columns", l)
		for _, l.Sample = range []int64{2, 4, 8, 16} {
			sampled := d.run("columns", l)
			sameCounts(t, whole, sampled, 0.02)
			require.Equal(t, whole.Slowest, sampled.Slowest)
		}
	}
}

// What blocks share out by a counter is shared out among all of them, not among the few
// that are run.
func TestSamplesShareOutByCounters(t *testing.T) {
	const n, grid, resident = 96_000, 100, 100
	d := open(t, "sharing.ptx", sharing)
	for _, sample := range []int64{4, 10, 25} {
		var stats [2]Stats
		for i, s := range []int64{0, sample} {
			counter, owner := buffer(d, "counter", make([]uint32, 1)), buffer(d, "owner", make([]uint32, n))
			stats[i] = d.run("sharing", Launch{Grid: dims(grid, 1, 1), Block: dims(64, 1, 1), Resident: resident, Sample: s,
				Params: params(counter, owner, uint32(n))})
			stats[i].Touched = nil
		}
		agree(t, "instructions", float64(stats[0].WarpInsts), float64(stats[1].WarpInsts), 0.05)
		agree(t, "atomics", float64(stats[0].Atomics), float64(stats[1].Atomics), 0.05)
		agree(t, "cycles", stats[0].Path.Cycles, stats[1].Path.Cycles, 0.05)
		agree(t, "cycles of the slowest", stats[0].Slowest.Cycles, stats[1].Slowest.Cycles, 0.1)
	}
}

// Skipped iterations count as if they had been run, for each comparison that may end the
// loop, and the same memory is touched.
func TestSamplesLeapOverTurns(t *testing.T) {
	const n, f = 3001, 200
	for _, end := range []string{
		"add.u32 %r7, %r7, 1;\n\tsetp.lt.u32 %p2, %r7, %r1;",
		"add.u32 %r7, %r7, 1;\n\tsetp.ne.s32 %p2, %r7, %r1;",
		"sub.u32 %r7, %r7, 1;\n\tadd.u32 %r8, %r7, %r1;\n\tsetp.gt.s32 %p2, %r8, 0;",
		"add.u32 %r7, %r7, 2;\n\tsub.u32 %r8, %r1, 1;\n\tsetp.le.s32 %p2, %r7, %r8;",
	} {
		text := strings.Replace(columns, "add.u32 %r7, %r7, 1;\n\tsetp.lt.u32 %p2, %r7, %r1;", end, 1)
		require.Contains(t, text, end)
		d := open(t, "columns.ptx", text)
		x, y := buffer(d, "x", make([]uint32, n*f)), buffer(d, "y", make([]uint32, n*f))
		l := Launch{Grid: dims(16, 1, 1), Block: dims(64, 1, 1), Params: params(x, y, uint32(n), uint32(f))}
		whole := d.run("columns", l)
		l.Sample = 4
		sampled := d.run("columns", l)
		sameCounts(t, whole, sampled, 0.01)
		require.Less(t, ran(d, "columns"), whole.WarpInsts/20, "few of the turns were run")
	}
}

// ran returns the number of warp instructions of the last launch that were executed, not
// skipped.
func ran(d *device, kernel string) (n int64) {
	for _, e := range d.kernel(kernel).run.spare {
		n += e.count.insts - e.count.skipped
	}
	return n
}

// A loop whose end depends on loaded data is run to its end.
func TestSamplesRunLoopsThatDataEnd(t *testing.T) {
	const n, f = 3001, 32
	text := strings.Replace(columns, "setp.lt.u32 %p2, %r7, %r1;", "setp.ne.u32 %p2, %r8, %r1;", 1)
	d := open(t, "columns.ptx", text)
	flags := make([]uint32, n*f)
	for i := range f {
		flags[(n-1)*f+i] = n
	}
	x, y := buffer(d, "x", flags), buffer(d, "y", make([]uint32, n*f))
	l := Launch{Grid: dims(4, 1, 1), Block: dims(32, 1, 1), Params: params(x, y, uint32(n), uint32(f))}
	whole := d.run("columns", l)
	l.Sample = 2
	sameCounts(t, whole, d.run("columns", l), 0)
}

// A loop that a break ends is run in full, whether the break depends on data or on the
// counter. A break on a path that no iteration takes does not prevent skipping.
func TestSamplesRunLoopsThatBreak(t *testing.T) {
	const n, f, last = 3001, 200, 1500
	rows := make([]uint32, n*f)
	for i := range f {
		rows[last*f+i] = 7
	}
	for _, c := range []struct {
		name, end string
		leaps     bool
	}{
		{"by data", "setp.eq.u32 %p1, %r8, 7;\n\t@%p1 bra DONE;", false},
		{"by the counter", "setp.eq.u32 %p1, %r7, 1500;\n\t@%p1 bra DONE;", false},
		{"by leaving the kernel", "setp.eq.u32 %p1, %r7, 1500;\n\t@%p1 ret;", false},
		{"never", "setp.ge.u32 %p1, %r8, 0;\n\t@%p1 bra ON;\n\tsetp.eq.u32 %p1, %r8, 9;\n\t@%p1 bra DONE;\nON:", true},
	} {
		d := open(t, "columns.ptx", strings.Replace(columns, "add.u32 %r7, %r7, 1;", c.end+"\n\tadd.u32 %r7, %r7, 1;", 1))
		x, y := buffer(d, "x", rows), buffer(d, "y", make([]uint32, n*f))
		l := Launch{Grid: dims(16, 1, 1), Block: dims(64, 1, 1), Params: params(x, y, uint32(n), uint32(f))}
		whole := d.run("columns", l)
		l.Sample = 4
		sampled := d.run("columns", l)
		agree(t, c.name, float64(whole.WarpInsts), float64(sampled.WarpInsts), 0.01)
		require.Equal(t, c.leaps, ran(d, "columns") < whole.WarpInsts/20, c.name)
	}
}
