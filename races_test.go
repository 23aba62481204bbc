package reprise_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise"
)

// reversing reverses 64 words through shared memory, without the barrier that it requires.
const reversing = `
.version 7.8
.target sm_75
.address_size 64
.visible .entry reverse(.param .u64 x)
{
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	.shared .align 4 .b8 tile[256];
	ld.param.u64 %rd1, [x];
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.u32 %r3, [%rd3];
	mov.u32 %r4, tile;
	shl.b32 %r5, %r2, 2;
	add.s32 %r6, %r4, %r5;
	st.shared.u32 [%r6], %r3;
	sub.s32 %r5, 252, %r5;
	add.s32 %r6, %r4, %r5;
	ld.shared.u32 %r3, [%r6];
	st.global.u32 [%rd3], %r3;
	ret;
}
`

// TestCheckedDevicesFindRacesInBodies has a race between threads of a launch in a loop, and a read of memory that nothing wrote.
func TestCheckedDevicesFindRacesInBodies(t *testing.T) {
	ctx := context.Background()
	for _, streams := range []bool{false, true} {
		for _, written := range []bool{false, true} {
			dev, err := reprise.OpenChecked("sim")
			require.NoError(t, err)
			tr := reprise.Record(dev, "reversing")
			k := tr.Module("reverse.ptx", reversing).Kernel("reverse")
			x := tr.Alloc("x", reprise.U32, 64, reprise.Temporary)
			n := tr.Alloc("n", reprise.U32, 1, reprise.InOut)
			if written {
				tr.Memset(x, uint32(0))
			}
			tr.Loop(n, reprise.AtLeast, 2, reprise.Limits{Iterations: 3}, func() {
				tr.Launch(k, reprise.Linear(1, 64), x)
				tr.Copy(n, x.Slice(0, 1))
			})
			trace, err := tr.Finish()
			require.NoError(t, err)
			exec, err := reprise.Compile(dev, trace, reprise.Options{Streams: streams})
			require.NoError(t, err)
			require.NoError(t, exec.Replay(ctx))
			err = exec.Wait(ctx)
			if written {
				assert.ErrorContains(t, err, "shared-memory race")
				assert.ErrorContains(t, err, "loop/reverse at ")
			} else {
				assert.ErrorContains(t, err, "uninitialised read: bytes 0-3 of @x")
				assert.ErrorContains(t, err, "loop/reverse at ")
			}
		}
	}
}
