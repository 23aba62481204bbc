package tracer_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// tiles has kernels that work on n elements of a buffer from element first on:
// fill writes them, smooth reads their neighbours too.
const tiles = `
.version 7.8
.target sm_75
.address_size 64
.visible .entry fill(.param .u64 x, .param .u32 first, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [x];
	ld.param.u32 %r1, [first];
	ld.param.u32 %r2, [n];
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %ntid.x;
	mov.u32 %r5, %tid.x;
	mad.lo.s32 %r6, %r3, %r4, %r5;
	setp.ge.s32 %p1, %r6, %r2;
	@%p1 ret;
	add.s32 %r7, %r6, %r1;
	mul.wide.s32 %rd2, %r7, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r7;
	ret;
}
.visible .entry smooth(.param .u64 in, .param .u64 out, .param .u32 first, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<7>;
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	ld.param.u32 %r1, [first];
	ld.param.u32 %r2, [n];
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %ntid.x;
	mov.u32 %r5, %tid.x;
	mad.lo.s32 %r6, %r3, %r4, %r5;
	setp.ge.s32 %p1, %r6, %r2;
	@%p1 ret;
	add.s32 %r7, %r6, %r1;
	mul.wide.s32 %rd3, %r7, 4;
	add.s64 %rd4, %rd1, %rd3;
	ld.global.f32 %f1, [%rd4+-4];
	ld.global.f32 %f2, [%rd4+4];
	add.f32 %f3, %f1, %f2;
	add.s64 %rd5, %rd2, %rd3;
	st.global.f32 [%rd5], %f3;
	ret;
}
`

const tileCount, tileLen = 8, 100

// tileTrace fills eight tiles of a and smooths them into b, each by a launch that
// is passed the whole buffers and where its tile starts.
func tileTrace(t testing.TB, first func(tr *tracer.Tracer, tile int) any) *ir.Graph {
	tr := tracer.New(null.New(), "tiles", tracer.Deferred)
	m := tr.Module("tiles.ptx", tiles)
	a := tr.Alloc("a", ir.F32, tileCount*tileLen, ir.InOut)
	b := tr.Alloc("b", ir.F32, tileCount*tileLen, ir.Output)
	for i := range tileCount {
		tr.Launch(m.Kernel("fill"), tracer.Linear(1, 128), a, first(tr, i), tileLen)
	}
	for i := range tileCount {
		tr.Launch(m.Kernel("smooth"), tracer.Linear(1, 128), a, b, first(tr, i), tileLen)
	}
	trace, err := tr.Finish()
	require.NoError(t, err)
	return trace.Graph
}

// conflicts lists the pairs of operations that access a common byte, which at least one of them writes,
// as "0-8".
func conflicts(g *ir.Graph) []string {
	var list []string
	for v := range g.Ops {
		for u := range v {
			if conflict(g, &g.Ops[u], &g.Ops[v]) {
				list = append(list, fmt.Sprintf("%d-%d", u, v))
			}
		}
	}
	return list
}

func conflict(g *ir.Graph, a, b *ir.Op) bool {
	for _, x := range a.Uses {
		for _, y := range b.Uses {
			if x.Buffer == y.Buffer && g.Box(x).Overlaps(g.Box(y)) && (x.Mode.Writes() || y.Mode.Writes()) {
				return true
			}
		}
	}
	return false
}

// TestTilesAreIndependent expects independent tiles of one buffer, selected by a number. A tile that
// is read with its halo depends on its neighbours too, and on no other tile.
func TestTilesAreIndependent(t *testing.T) {
	g := tileTrace(t, func(_ *tracer.Tracer, tile int) any { return tile * tileLen })
	var want []string
	for smooth := range tileCount {
		for fill := max(smooth-1, 0); fill <= min(smooth+1, tileCount-1); fill++ {
			want = append(want, fmt.Sprintf("%d-%d", fill, tileCount+smooth))
		}
	}
	assert.Equal(t, want, conflicts(g))
	assert.Equal(t, []ir.Access{
		{Range: ir.Range{Buffer: 0, Lo: 4*tileLen - 4, Hi: 8*tileLen + 4}, Mode: ir.Read},
		{Range: ir.Range{Buffer: 1, Lo: 4 * tileLen, Hi: 8 * tileLen}, Mode: ir.Write},
	}, g.Ops[tileCount+1].Uses)
	assert.Equal(t, int64(0), g.Ops[tileCount].Uses[0].Lo, "the halo of the first tile ends with the buffer")
}

// A replay may change the value of a parameter, so a launch with one is recorded as touching all of the
// buffers that it is passed.
func TestAReplayParameterBoundsNothing(t *testing.T) {
	g := tileTrace(t, func(tr *tracer.Tracer, tile int) any {
		return tr.Param(fmt.Sprintf("first%d", tile), ir.I32, tile*tileLen)
	})
	assert.Equal(t, []ir.Access{{Range: ir.Range{Buffer: 0, Hi: 4 * tileCount * tileLen}, Mode: ir.Write}}, g.Ops[0].Uses)
	assert.Len(t, conflicts(g), 2*tileCount*tileCount-tileCount, "every launch writes all, and smooth only reads a")
}

// A slice is a promise where the reach is only an upper bound, as with a number that a replay may change:
// bytes beyond the slice are not recorded.
func TestASliceBoundsWhatIsReached(t *testing.T) {
	tr := tracer.New(null.New(), "sliced", tracer.Deferred)
	m := tr.Module("tiles.ptx", tiles)
	a := tr.Alloc("a", ir.F32, 64, ir.InOut)
	tr.Launch(m.Kernel("fill"), tracer.Linear(1, 32), a.Slice(8, 24), 4, tr.Param("n", ir.I32, 12))
	tr.Launch(m.Kernel("fill"), tracer.Linear(1, 32), a.Slice(8, 24), 4, 0)
	trace, err := tr.Finish()
	require.NoError(t, err)
	assert.Equal(t, []ir.Access{{Range: ir.Range{Buffer: 0, Lo: 4 * 12, Hi: 4 * 24}, Mode: ir.Write}}, trace.Graph.Ops[0].Uses)
	assert.Empty(t, trace.Graph.Ops[1].Uses, "no thread is below 0")
}

// A signature may claim more accesses than the code shows.
func TestADeclaredModeWidens(t *testing.T) {
	tr := tracer.New(null.New(), "wide", tracer.Deferred)
	m := tr.Module("tiles.ptx", tiles)
	a := tr.Alloc("a", ir.F32, 64, ir.InOut)
	tr.Launch(m.Kernel("fill", "x: inout f32*, first: i32, n: i32"), tracer.Linear(1, 32), a, 4, 8)
	trace, err := tr.Finish()
	require.NoError(t, err)
	assert.Equal(t, []ir.Access{{Range: ir.Range{Buffer: 0, Hi: 256}, Mode: ir.ReadWrite}}, trace.Graph.Ops[0].Uses)
}

// BenchmarkLaunchTiles traces launches no two of which in a row are equal, so
// that the reach of each is computed.
func BenchmarkLaunchTiles(b *testing.B) {
	const launches = 100_000
	shape := tracer.Linear(4, 256)
	b.ReportAllocs()
	for b.Loop() {
		tr := tracer.New(null.New(), "bench", tracer.Deferred)
		fill := tr.Module("tiles.ptx", tiles).Kernel("fill")
		x := tr.Alloc("x", ir.F32, 1<<20, ir.InOut)
		for i := range launches {
			tr.Launch(fill, shape, x, i&1023<<10, 1024)
		}
		require.NoError(b, tr.Err())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/launches, "ns/launch")
}
