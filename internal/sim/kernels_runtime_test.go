package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/sim"
)

// shift moves numbers round a ring, one place per step, with the grid barrier of the device runtime, of which the
// module has declarations alone. status[0] is the result of the last barrier, status[1] whether scope 2 has a handle.
const shift = `.version 7.0
.target sm_60
.address_size 64
.extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.visible .entry shift(.param .u64 from, .param .u64 to, .param .u64 status, .param .u32 n, .param .u32 steps)
{
.reg .pred %p; .reg .b32 %r<20>; .reg .b64 %rd<20>;
{ .param .b32 s; st.param.b32 [s], 1; .param .b64 h; call.uni (h), cudaCGGetIntrinsicHandle, (s); ld.param.b64 %rd10, [h]; }
{ .param .b32 s; st.param.b32 [s], 2; .param .b64 h; call.uni (h), cudaCGGetIntrinsicHandle, (s); ld.param.b64 %rd11, [h]; }
ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to]; ld.param.u64 %rd3, [status]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [steps];
mov.u32 %r3, %ctaid.y; mov.u32 %r4, %nctaid.x; mov.u32 %r5, %ctaid.x; mad.lo.s32 %r3, %r3, %r4, %r5;
mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y; mul.lo.s32 %r6, %r4, %r5; mul.lo.s32 %r3, %r3, %r6;
mov.u32 %r5, %tid.y; mov.u32 %r6, %tid.x; mad.lo.s32 %r5, %r5, %r4, %r6; add.s32 %r3, %r3, %r5;
mul.wide.u32 %rd4, %r3, 4; add.s32 %r7, %r3, 1; rem.u32 %r7, %r7, %r1; mul.wide.u32 %rd5, %r7, 4;
again:
add.s64 %rd6, %rd1, %rd4; ld.global.u32 %r8, [%rd6]; add.s64 %rd7, %rd2, %rd5; st.global.u32 [%rd7], %r8;
{ .param .b64 h; st.param.b64 [h], %rd10; .param .b32 f; st.param.b32 [f], 0; .param .b32 r;
call.uni (r), cudaCGSynchronize, (h, f); ld.param.b32 %r9, [r]; }
mov.u64 %rd8, %rd1; mov.u64 %rd1, %rd2; mov.u64 %rd2, %rd8;
sub.s32 %r2, %r2, 1; setp.ne.s32 %p, %r2, 0; @%p bra again;
setp.ne.s32 %p, %r3, 0; @%p ret;
st.global.u32 [%rd3], %r9; st.global.u32 [%rd3+4], %rd11; ret;
}`

func TestGridBarrierOfTheDeviceRuntime(t *testing.T) {
	for _, s := range []shape{line(4, 64), plane(3, 2, 16, 4), line(1, 32)} {
		g := loadWith(t, sim.Options{Workers: 3, Race: sim.RaceOn}, "shift.ptx", shift)
		n := int(s.grid.Count() * s.block.Count())
		ring, want := make([]int32, n), make([]int32, n)
		const steps = 5
		for i := range ring {
			ring[i], want[(i+steps)%n] = int32(i), int32(i)
		}
		from, to, status := up(g, ring), zeros[int32](g, n), up(g, []int32{-1, -1})
		g.launch("shift", s.together(), from, to, status, int32(n), int32(steps))
		require.Equal(t, want, to.down())
		require.Equal(t, []int32{0, 0}, status.down())
	}
}

// Without a cooperative launch there is no handle, and a barrier returns cudaErrorUnknown.
func TestGridBarrierOfTheDeviceRuntimeWithoutAHandle(t *testing.T) {
	g := loadWith(t, sim.Options{}, "shift.ptx", shift)
	from, to, status := up(g, []int32{1}), zeros[int32](g, 1), up(g, []int32{-1, -1})
	g.launch("shift", line(1, 1), from, to, status, int32(1), int32(1))
	require.Equal(t, []int32{999, 0}, status.down())
}
