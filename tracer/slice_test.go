package tracer_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// sliceKernel returns a kernel with the given body. The body may use i, the number of the thread, its bound
// n, and the pointers x, y and k; %rd9 is the address of x[i].
func sliceKernel(body string) string {
	return `
.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n)
{
	.reg .pred %p<5>;
	.reg .b32 %r<12>;
	.reg .b64 %rd<12>;
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [y];
	ld.param.u32 %r2, [n];
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %ntid.x;
	mov.u32 %r5, %tid.x;
	mad.lo.s32 %r1, %r3, %r4, %r5;
	mul.wide.s32 %rd8, %r1, 4;
	add.s64 %rd9, %rd1, %rd8;
	` + body + `
END:
	ret;
}
`
}

// Bodies of kernels, whether a launch of four blocks of eight threads with n = 20 certainly leaves elements
// [8, 24) of a buffer that it is passed for x, and which bytes of the slice a refusal has to name.
var sliceBodies = []struct {
	name, body string
	refused    bool
}{
	{"all elements", "st.global.u32 [%rd9], %r1;", true},
	{"a guard", "setp.ge.s32 %p1, %r1, %r2; @%p1 bra END; st.global.u32 [%rd9], %r1;", true},
	{"a guarded store", "setp.lt.s32 %p1, %r1, %r2; @%p1 st.global.u32 [%rd9], %r1;", true},
	{"a guard that keeps all inside", "setp.ge.s32 %p1, %r1, 16; @%p1 bra END; st.global.u32 [%rd9], %r1;", false},
	{"a load", "ld.global.u32 %r6, [%rd9];", true},
	{"an atomic", "red.global.add.u32 [%rd9], 1;", true},
	{"below the slice", "setp.ge.s32 %p1, %r1, 16; @%p1 bra END; st.global.u32 [%rd9+-4], %r1;", true},
	{"one thread", "setp.ne.s32 %p1, %r1, 19; @%p1 bra END; st.global.u32 [%rd9], %r1;", true},
	{"one thread inside", "setp.ne.s32 %p1, %r1, 15; @%p1 bra END; st.global.u32 [%rd9], %r1;", false},
	{"no thread", "setp.lt.s32 %p1, %r1, 64; @%p1 bra END; st.global.u32 [%rd9], %r1;", false},
	{"a loop", "mov.u32 %r6, 0; L: st.global.u32 [%rd1], %r6; add.s64 %rd1, %rd1, 4; add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, %r2; @%p1 bra L;", true},
	{"a loop inside", "mov.u32 %r6, 4; L: st.global.u32 [%rd1], %r6; add.s64 %rd1, %rd1, 4; add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, %r2; @%p1 bra L;", false},
	{"a loaded index", "ld.global.u32 %r6, [%rd2]; mul.wide.u32 %rd3, %r6, 4; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r1;", false},
	{"a loaded bound", "ld.global.u32 %r6, [%rd2]; setp.ge.s32 %p1, %r1, %r6; @%p1 bra END; st.global.u32 [%rd9], %r1;", false},
	{"behind a loaded condition", "ld.global.u32 %r6, [%rd2]; setp.eq.s32 %p1, %r6, 0; @%p1 bra J; mov.u32 %r7, 1; J: st.global.u32 [%rd9], %r1;", true},
	{"with a number of a loaded condition", "mov.u64 %rd3, 0; ld.global.u32 %r6, [%rd2]; setp.eq.s32 %p1, %r6, 0; @%p1 bra J; mov.u64 %rd3, 4; J: add.s64 %rd9, %rd9, %rd3; setp.ge.s32 %p2, %r1, %r2; @%p2 bra END; st.global.u32 [%rd9], %r1;", false},
	{"behind a loop of a loaded number of turns", "mov.u32 %r6, 0; L: add.s32 %r6, %r6, 1; ld.global.u32 %r7, [%rd2]; setp.lt.u32 %p1, %r6, %r7; @%p1 bra L; st.global.u32 [%rd9], %r1;", true},
	{"with the turns of such a loop", "mov.u32 %r6, 0; L: add.s32 %r6, %r6, 1; ld.global.u32 %r7, [%rd2]; setp.lt.u32 %p1, %r6, %r7; @%p1 bra L; mul.wide.u32 %rd3, %r6, 64; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r1;", false},
	{"with turns that memory may end", "mov.u32 %r6, 0; L: add.s32 %r6, %r6, 1; ld.global.u32 %r7, [%rd2]; setp.ne.u32 %p1, %r7, 0; @%p1 bra J; setp.lt.s32 %p2, %r6, 3; @%p2 bra L; J: sub.s32 %r8, 17, %r6; mul.wide.s32 %rd3, %r8, 4; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r1;", false},
	{"guarded by what was loaded", "ld.global.u32 %r6, [%rd2]; setp.ne.u32 %p1, %r6, 0; @%p1 st.global.u32 [%rd9], %r1;", false},
	{"behind a loaded exit", "ld.global.u32 %r6, [%rd2]; setp.eq.s32 %p1, %r6, 0; @%p1 exit; st.global.u32 [%rd9], %r1;", false},
	{"loops of a loaded start", "mov.u32 %r6, 0; mov.u32 %r7, 0; O: mov.u32 %r8, %r6; mov.u32 %r10, 0; I: mul.wide.u32 %rd3, %r8, 4; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r1; add.u32 %r8, %r8, 1; add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 2; @%p1 bra I; ld.global.u32 %r6, [%rd2]; add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 2; @%p2 bra O;", false},
	{"loops that stay inside", "mov.u32 %r6, 0; mov.u32 %r7, 0; O: mov.u32 %r8, %r6; mov.u32 %r10, 0; I: mul.wide.u32 %rd3, %r8, 4; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r1; add.u32 %r8, %r8, 1; add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 2; @%p1 bra I; add.u32 %r6, %r8, 12; add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 2; @%p2 bra O;", false},
	{"loops of which the last turn leaves", "mov.u32 %r6, 0; mov.u32 %r7, 0; O: mov.u32 %r8, %r6; mov.u32 %r10, 0; I: mul.wide.u32 %rd3, %r8, 4; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r1; add.u32 %r8, %r8, 1; add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 2; @%p1 bra I; add.u32 %r6, %r8, 13; add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 2; @%p2 bra O;", true},
	{"either of two pointers", "setp.lt.s32 %p1, %r1, %r2; selp.b64 %rd3, %rd1, %rd2, %p1; add.s64 %rd4, %rd3, %rd8; st.global.u32 [%rd4], %r1;", false},
}

func TestASliceThatIsCertainlyLeftIsRefused(t *testing.T) {
	for _, test := range sliceBodies {
		for _, mode := range []tracer.Mode{tracer.Deferred, tracer.Eager, tracer.Direct} {
			dev, err := sim.New(sim.Options{})
			require.NoError(t, err)
			tr := tracer.New(dev, "slices", mode)
			k := tr.Module("k.ptx", sliceKernel(test.body)).Kernel("k")
			x, y := tr.Alloc("x", ir.F32, 64, ir.InOut), tr.Alloc("y", ir.F32, 64, ir.InOut)
			tr.Launch(k, tracer.Linear(4, 8), x.Slice(8, 24), y, 20)
			var left *tracer.SliceError
			if test.refused {
				require.ErrorAs(t, tr.Err(), &left, "%s", test.name)
				assert.Equal(t, ir.Range{Buffer: x.ID(), Lo: 32, Hi: 96}, left.Slice, "%s", test.name)
				assert.True(t, left.Touched.Lo < 32 || left.Touched.Hi > 96, "%s: %v", test.name, left)
				assert.ErrorContains(t, tr.Err(), "@x[32:96]", "%s", test.name)
				assert.ErrorContains(t, tr.Err(), fmt.Sprintf("@x[%d:%d]", left.Touched.Lo, left.Touched.Hi), "%s", test.name)
			} else {
				require.NoError(t, tr.Err(), "%s", test.name)
			}
			_ = dev.Close()
		}
	}
}

// The same launches on whole buffers, which promise nothing; on empty slices, which promise that nothing is
// touched; and with a bound that a replay may change, of which the first value counts.
func TestWholeBuffersPromiseNothingAndEmptySlicesAll(t *testing.T) {
	guarded := sliceBodies[1].body
	launch := func(args func(tr *tracer.Tracer, x, y tracer.Buffer) []any) error {
		tr := tracer.New(null.New(), "slices", tracer.Deferred)
		k := tr.Module("k.ptx", sliceKernel(guarded)).Kernel("k")
		x, y := tr.Alloc("x", ir.F32, 16, ir.InOut), tr.Alloc("y", ir.F32, 16, ir.InOut)
		tr.Launch(k, tracer.Linear(4, 8), args(tr, x, y)...)
		return tr.Err()
	}
	var left *tracer.SliceError
	assert.NoError(t, launch(func(_ *tracer.Tracer, x, y tracer.Buffer) []any { return []any{x, y, 20} }))
	assert.NoError(t, launch(func(_ *tracer.Tracer, x, y tracer.Buffer) []any { return []any{x.Slice(0, 16), y, 20} }), "that is all of it")
	assert.NoError(t, launch(func(_ *tracer.Tracer, x, y tracer.Buffer) []any { return []any{x.Slice(4, 4), y, 0} }), "no thread writes")
	assert.ErrorAs(t, launch(func(_ *tracer.Tracer, x, y tracer.Buffer) []any { return []any{x.Slice(4, 4), y, 1} }), &left)
	assert.ErrorAs(t, launch(func(_ *tracer.Tracer, x, y tracer.Buffer) []any { return []any{x.Slice(8, 16), y, 9} }), &left, "behind the end")
	assert.NoError(t, launch(func(tr *tracer.Tracer, x, y tracer.Buffer) []any {
		return []any{x.Slice(8, 16), y, tr.Param("n", ir.I32, 8)}
	}), "with the first value of the parameter")
	assert.ErrorAs(t, launch(func(tr *tracer.Tracer, x, y tracer.Buffer) []any {
		return []any{x.Slice(8, 16), y, tr.Param("n", ir.I32, 9)}
	}), &left, "and beyond with that")
}

// A launch that is refused does leave its slice when it runs: all bodies run with random slices, and the
// bytes that the device touches outside the slice are checked. A launch whose upper bound stays inside its
// slice is never refused.
func TestWhatIsRefusedLeavesItsSlice(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 2))
	refused := 0
	for range 300 {
		test := sliceBodies[rng.IntN(len(sliceBodies))]
		lo := 1 + rng.Int64N(20)
		hi := lo + rng.Int64N(30)
		n, blocks := rng.IntN(40), uint32(1+rng.IntN(4))
		dev, err := sim.New(sim.Options{})
		require.NoError(t, err)
		m, err := dev.LoadModule("k.ptx", sliceKernel(test.body))
		require.NoError(t, err)
		f, err := dev.Function(m, "k")
		require.NoError(t, err)
		s, err := dev.CreateStream(0)
		require.NoError(t, err)
		tr := tracer.New(dev, "slices", tracer.Deferred)
		x, y := tr.Alloc("x", ir.U32, 128, ir.InOut), tr.Alloc("y", ir.U32, 64, ir.InOut)
		done, err := tr.Finish()
		require.NoError(t, err)
		before := make([]uint32, 128)
		for i := range before {
			before[i] = 1 << 20
		}
		require.NoError(t, tracer.Write(x, before))
		params := binary.LittleEndian.AppendUint64(nil, uint64(done.Pointer(x.ID()))+uint64(4*lo))
		params = binary.LittleEndian.AppendUint64(params, uint64(done.Pointer(y.ID())))
		params = binary.LittleEndian.AppendUint32(params, uint32(n))
		require.NoError(t, dev.Submit(s, &device.Launch{Function: f, Grid: device.Dim3{X: blocks, Y: 1, Z: 1}, Block: device.Dim3{X: 8, Y: 1, Z: 1}, Params: params}))
		require.NoError(t, dev.Synchronize(s))
		after := make([]uint32, 128)
		require.NoError(t, tracer.Read(after, x), "%s", test.name)
		leaves := false
		for i := range after {
			leaves = leaves || after[i] != before[i] && (int64(i) < lo || int64(i) >= hi)
		}

		recorded := tracer.New(dev, "slices", tracer.Deferred)
		k := recorded.Module("k.ptx", sliceKernel(test.body)).Kernel("k")
		x, y = recorded.Alloc("x", ir.U32, 128, ir.InOut), recorded.Alloc("y", ir.U32, 64, ir.InOut)
		recorded.Launch(k, tracer.Linear(blocks, 8), x.Slice(lo, hi), y, n)
		if recorded.Err() != nil {
			refused++
			require.True(t, leaves || test.name == "a load", "%s, slice [%d:%d), n %d: %v", test.name, lo, hi, n, recorded.Err())
		} else if test.refused && test.name != "a load" {
			require.False(t, leaves, "%s, slice [%d:%d), n %d, %d blocks", test.name, lo, hi, n, blocks)
		}
		_ = dev.Close()
	}
	require.Greater(t, refused, 50)
}

// The check of one launch does not pass another launch that differs from it.
func TestLaunchesAreToldApartByWhatTheyReach(t *testing.T) {
	dev := null.New()
	tr := tracer.New(dev, "apart", tracer.Direct)
	k := tr.Module("k.ptx", sliceKernel(sliceBodies[1].body)).Kernel("k")
	x, y := tr.Alloc("x", ir.F32, 256, ir.InOut), tr.Alloc("y", ir.F32, 16, ir.InOut)
	n := tr.Param("n", ir.I32, 16)
	launch := func(blocks uint32, args ...any) { tr.Launch(k, tracer.Linear(blocks, 8), args...) }
	launch(4, y, y, 20)
	launch(4, x.Slice(0, 16), y, 16)
	launch(4, x.Slice(64, 80), y, n)
	launch(4, x.Slice(64, 79), y, 15)
	launch(2, x.Slice(64, 80), y, 20)
	require.NoError(t, tr.Err())
	for name, refused := range map[string]func(){
		"another count":  func() { launch(4, x.Slice(0, 16), y, 17) },
		"a parameter":    func() { launch(4, x.Slice(0, 16), y, tr.Param("m", ir.I32, 17)) },
		"another slice":  func() { launch(4, x.Slice(0, 15), y, 16) },
		"another length": func() { launch(4, x.Slice(64, 79), y, 16) },
		"another grid":   func() { launch(3, x.Slice(64, 80), y, 20) },
		"a slice":        func() { launch(4, x.Slice(0, 16), y, 20) },
	} {
		one := *tr
		refused()
		var left *tracer.SliceError
		require.ErrorAs(t, tr.Err(), &left, name)
		*tr = one
	}
}

// TestAGridLikeAnotherIsChecked launches a grid that leaves its slice after one that does not. Their extents
// had one hash, and modes that do not record check a launch once.
func TestAGridLikeAnotherIsChecked(t *testing.T) {
	tr := tracer.New(null.New(), "grids", tracer.Direct)
	k := tr.Module("k.ptx", sliceKernel("mov.u32 %r6, %ctaid.y; mul.wide.u32 %rd3, %r6, 4; add.u64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r1;")).Kernel("k")
	b := tr.Alloc("b", ir.U32, 64, ir.InOut)
	launch := func(y, z uint32) {
		tr.Launch(k, tracer.Shape{Grid: ir.Dim3{X: 1, Y: y, Z: z}, Block: ir.Dim3{X: 1, Y: 1, Z: 1}}, b.Slice(0, 1), b, 0)
	}
	launch(1, 257)
	require.NoError(t, tr.Err())
	launch(2, 513)
	var left *tracer.SliceError
	require.ErrorAs(t, tr.Err(), &left)
}
