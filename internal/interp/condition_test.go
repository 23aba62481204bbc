package interp

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// As nvcc calls it, with registers moved to parameters, and as people write it.
const conditionModule = `.version 8.3
.target sm_70
.address_size 64
.extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);
.visible .entry each(.param .u64 handles)
{
	.reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p;
	ld.param.u64 %rd1, [handles];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 8;
	add.s64 %rd2, %rd1, %rd2;
	ld.global.u64 %rd3, [%rd2];
	add.u32 %r2, %r1, 100;
	setp.ne.u32 %p, %r1, 1;
	{
	.param .b64 param0;
	st.param.b64 [param0+0], %rd3;
	.param .b32 param1;
	st.param.b32 [param1+0], %r2;
	@%p call.uni cudaGraphSetConditional, (param0, param1);
	}
	ret;
}
.visible .entry last(.param .u64 handle)
{
	.reg .b32 %r<4>; .reg .b64 %rd<2>;
	ld.param.u64 %rd1, [handle];
	mov.u32 %r1, %ctaid.x;
	call cudaGraphSetConditional, (%rd1, %r1);
	ret;
}
`

func conditions(d *device, n int) (handles []uint64) {
	for range n {
		c, err := d.mem.AllocCondition("a condition")
		require.NoError(d.t, err)
		handles = append(handles, c)
	}
	return handles
}

func TestKernelsSetConditions(t *testing.T) {
	d := open(t, "condition.ptx", conditionModule)
	handles := conditions(d, 3)
	rec := &Record{}
	d.run("each", Launch{Grid: dims(1, 1, 1), Block: dims(3, 1, 1), Params: params(buffer(d, "handles", handles)), Record: rec})
	for i, want := range []uint32{100, 0, 102} {
		assert.Equal(t, []uint32{want}, contents[uint32](d, handles[i]), "lane 1 does not call")
	}
	assert.Equal(t, "a condition\n  written 0-4\n  line 20 (store true, atomic false) 0-4\n"+
		"a condition\n  written 0-4\n  line 20 (store true, atomic false) 0-4\n"+
		"handles\n  read 0-24\n  exposed 0-24\n  line 12 (store false, atomic false) 0-24\n", printRecord(d, "each", rec))
}

// The value of the last block in grid order remains, for any number of workers. A launch
// that sets only conditions is repeatable.
func TestConditionsAreLikeMemory(t *testing.T) {
	d := open(t, "condition.ptx", conditionModule)
	c := conditions(d, 1)[0]
	for workers := range 4 {
		contents[uint32](d, c)[0] = 0
		d.run("last", Launch{Grid: dims(500, 1, 1), Block: dims(1, 1, 1), Params: params(c), Workers: workers + 1})
		assert.Equal(t, []uint32{499}, contents[uint32](d, c))
	}
	assert.True(t, d.kernel("last").Repeatable())
}

func TestWhatIsNoConditionCannotBeSet(t *testing.T) {
	d := open(t, "condition.ptx", conditionModule)
	c := conditions(d, 1)[0]
	freed := conditions(d, 1)[0]
	require.NoError(t, d.mem.Free(freed))
	for _, bad := range []uint64{0, 1, c + 1, c + 4, freed, buffer(d, "x", []uint32{1})} {
		_, f := d.kernel("last").Run(d.mem, Launch{Grid: dims(1, 1, 1), Block: dims(1, 1, 1), Params: params(bad)})
		require.NotNil(t, f, "%#x", bad)
		assert.Equal(t, IllegalAddress, f.Kind)
		assert.Contains(t, f.Reason, "this is not the handle of a condition")
	}
}
