package interp

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const followPointers = `.version 7.8
.target sm_75
.address_size 64
.visible .entry follow(.param .u64 table, .param .u32 n)
{
.reg .pred %p; .reg .b32 %r<6>; .reg .b64 %rd<4>;
ld.param.u64 %rd0, [table]; ld.param.u32 %r0, [n];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %r1, %r2, %r3, %r1;
setp.ge.u32 %p, %r1, %r0; @%p bra $end;
mul.wide.u32 %rd1, %r1, 8; add.s64 %rd1, %rd0, %rd1; ld.global.u64 %rd2, [%rd1];
ld.global.u32 %r4, [%rd2]; add.u32 %r4, %r4, %r1; st.global.u32 [%rd2], %r4;
$end: ret;
}
`

// A kernel may follow a table of pointers to many allocations, as batched products do. With
// a linear search of the touched allocations this test took over 6 s; now it takes a
// fraction of one.
func TestManyAllocations(t *testing.T) {
	const n = 48_000
	for _, record := range []bool{false, true} {
		d := open(t, "follow.ptx", followPointers)
		table := make([]uint64, n)
		for i := range table {
			table[i] = buffer(d, fmt.Sprint("target ", i), []uint32{7, 0})
		}
		l := Launch{Grid: dims(uint32(n+127)/128, 1, 1), Block: dims(128, 1, 1), Params: params(buffer(d, "table", table), int32(n))}
		if record {
			l.Record = &Record{}
		}
		start := processorTime(t)
		d.run("follow", l)
		require.Less(t, processorTime(t)-start, 5*time.Second, "record %v", record)
		for i, addr := range table {
			require.Equal(t, []uint32{uint32(7 + i), 0}, contents[uint32](d, addr))
		}
		if record {
			require.Len(t, l.Record.Allocations, n+1)
		}
	}
}

// processorTime does not grow while other processes have the processors.
func processorTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
