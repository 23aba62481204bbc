package sim

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/interp"
)

// chain has each thread but those of the first block read through one address what the block before
// has written through another. The first block takes long before it writes, so that blocks which do
// not wait for it are found. Volatile accesses would order the blocks without aliases, too.
const chain = `.version 7.0
.target sm_50
.address_size 64
.visible .entry chain(.param .u64 a, .param .u64 b, .param .u64 out) {
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	.reg .pred %p, %late, %more;
	ld.param.u64 %rd0, [a];
	ld.param.u64 %rd1, [b];
	ld.param.u64 %rd2, [out];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mad.lo.u32 %r3, %r1, %r2, %r0;
	mul.wide.u32 %rd3, %r3, 4;
	add.s64 %rd4, %rd0, %rd3;
	add.u32 %r4, %r3, 1;
	setp.ne.u32 %late, %r1, 0;
	@%late bra write;
	mov.u32 %r7, 0;
again:
	add.u32 %r7, %r7, 1;
	setp.lt.u32 %more, %r7, 4000;
	@%more bra again;
write:
	st.global.u32 [%rd4], %r4;
	setp.lt.u32 %p, %r3, %r2;
	@%p ret;
	sub.u32 %r5, %r3, %r2;
	mul.wide.u32 %rd5, %r5, 4;
	add.s64 %rd5, %rd1, %rd5;
	ld.global.u32 %r6, [%rd5];
	add.s64 %rd6, %rd2, %rd3;
	st.global.u32 [%rd6], %r6;
	ret;
}
`

// virtualRig is a device, and the same memory at two addresses.
type virtualRig struct {
	*testing.T
	s    *System
	d    *Device
	a, b device.Ptr
}

func newVirtualRig(t *testing.T, o Options) *virtualRig {
	r := &virtualRig{T: t, s: NewSystem()}
	o.On = r.s.GPU(1 << 30)
	r.d = open(t, o)
	base, err := r.s.ReserveAddresses(3*interp.Granularity, 0)
	require.NoError(t, err)
	m, err := o.On.CreatePhysical(interp.Granularity)
	require.NoError(t, err)
	r.a, r.b = base, base+2*interp.Granularity
	for _, p := range []device.Ptr{r.a, r.b} {
		require.NoError(t, r.s.Map(p, m))
		require.NoError(t, r.s.Allow(p, interp.Granularity, Grant{o.On, interp.ReadWrite}))
	}
	return r
}

// A block that reads through one address what an earlier block has written through another finds it,
// with as many workers as there are, each time; results are not taken from the memo.
func TestBlocksSeeAliases(t *testing.T) {
	const blocks, threads = 64, 128
	r := newVirtualRig(t, Options{Workers: 8})
	out, err := r.d.Alloc(4 * blocks * threads)
	require.NoError(t, err)
	m, err := r.d.LoadModule("chain.ptx", chain)
	require.NoError(t, err)
	f, err := r.d.Function(m, "chain")
	require.NoError(t, err)
	st, err := r.d.CreateStream(0)
	require.NoError(t, err)
	params := binary.LittleEndian.AppendUint64(nil, uint64(r.a))
	params = binary.LittleEndian.AppendUint64(params, uint64(r.b))
	params = binary.LittleEndian.AppendUint64(params, uint64(out))
	got, zeros := make([]byte, 4*blocks*threads), make([]byte, 4*blocks*threads)
	for range 4 {
		require.NoError(t, r.d.Write(r.b, zeros))
		require.NoError(t, r.d.Submit(st, &device.Launch{Function: f, Grid: device.Dim3{X: blocks, Y: 1, Z: 1},
			Block: device.Dim3{X: threads, Y: 1, Z: 1}, Params: params}))
		require.NoError(t, r.d.Synchronize(st))
		require.NoError(t, r.d.Read(got, out))
		for i := threads; i < blocks*threads; i++ {
			require.EqualValues(t, i-threads+1, binary.LittleEndian.Uint32(got[4*i:]), "word %d", i)
		}
	}
	require.Zero(t, r.d.Counters().MemoHits)
}

// Two writes to the same memory by two addresses race; the finding names an address of the program.
func TestRacesOfAliases(t *testing.T) {
	r := newVirtualRig(t, Options{Race: RaceOn})
	for _, p := range []device.Ptr{r.a, r.b} {
		st, err := r.d.CreateStream(0)
		require.NoError(t, err)
		require.NoError(t, r.d.Submit(st, &device.Memset{Dst: p + 100, Value: 1, Width: 4, Count: 10}))
	}
	var race *RaceError
	require.ErrorAs(t, r.d.SynchronizeAll(), &race)
	require.Len(t, race.Findings, 1)
	require.Equal(t, fmt.Sprintf("bytes 100-139 of mapped memory at %#x", uint64(r.a)), race.Findings[0].Subject)
}

// Allow and Unmap cost the host one wait, however many devices the system has and however many GPUs
// get access, and that begins when the last work has ended.
func TestMappingCostsOneWait(t *testing.T) {
	r := newVirtualRig(t, Options{})
	wait := duration(r.d.profile.Host.Synchronize)
	small := r.s.GPU(1 << 20)
	for range 5 {
		open(t, Options{On: small})
	}
	begun := r.s.Now()
	require.NoError(t, r.s.Allow(r.a, interp.Granularity, Grant{r.d.gpu, interp.ReadWrite}, Grant{small, interp.ReadOnly}))
	require.Equal(t, wait, r.s.Now()-begun)
	require.NoError(t, r.s.Unmap(r.b, interp.Granularity))
	require.Equal(t, 2*wait, r.s.Now()-begun)

	for _, call := range []func() error{
		func() error { return r.s.Allow(r.a, interp.Granularity, Grant{r.d.gpu, interp.ReadWrite}) },
		func() error { return r.s.Unmap(r.a, interp.Granularity) },
	} {
		st, err := r.d.CreateStream(0)
		require.NoError(t, err)
		require.NoError(t, r.d.Submit(st, &device.Memset{Dst: r.a, Value: 1, Width: 4, Count: interp.Granularity / 4}))
		require.NoError(t, call())
		ended := r.d.Now()
		require.NoError(t, r.d.Query(st), "the work has ended")
		require.Greater(t, ended, begun+2*wait)
	}
}
