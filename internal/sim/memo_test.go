package sim

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// pick reads *q into *out, where q is the pointer that *at holds: which
// allocation it touches depends on data. clock stores a clock. fixed demands
// blocks of 64 threads.
const oddKernels = `.version 7.8
.target sm_75
.address_size 64
.visible .entry pick(.param .u64 out, .param .u64 at)
{
	.reg .b64 %rd<4>;
	.reg .b32 %r<2>;
	ld.param.u64 %rd1, [out];
	ld.param.u64 %rd2, [at];
	ld.global.u64 %rd3, [%rd2];
	ld.global.u32 %r1, [%rd3];
	st.global.u32 [%rd1], %r1;
	ret;
}
.visible .entry clock(.param .u64 out)
{
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [out];
	mov.u64 %rd2, %clock64;
	st.global.u64 [%rd1], %rd2;
	ret;
}
`

// ticket takes a number from a module variable: memory that no parameter names.
const ticketKernel = `.version 7.8
.target sm_75
.address_size 64
.global .align 4 .u32 next;
.visible .entry ticket(.param .u64 out)
{
	.reg .b64 %rd<3>;
	.reg .b32 %r<2>;
	ld.param.u64 %rd1, [out];
	mov.u64 %rd2, next;
	atom.global.add.u32 %r1, [%rd2], 1;
	st.global.u32 [%rd1], %r1;
	ret;
}
`

const fixedKernel = `.version 7.8
.target sm_75
.address_size 64
.visible .entry fixed() .reqntid 64, 1, 1
{
	ret;
}
`

func one(f device.Function, params ...device.Ptr) *device.Launch {
	l := &device.Launch{Function: f, Grid: device.Dim3{X: 1, Y: 1, Z: 1}, Block: device.Dim3{X: 1, Y: 1, Z: 1}}
	for _, p := range params {
		l.Params = binary.LittleEndian.AppendUint64(l.Params, uint64(p))
	}
	return l
}

func (r *rig) function(text, entry string) device.Function {
	m, err := r.LoadModule("odd.ptx", text)
	r.ok(err)
	f, err := r.Function(m, entry)
	r.ok(err)
	return f
}

func (r *rig) word(p device.Ptr) uint32 {
	var b [4]byte
	r.ok(r.Read(b[:], p))
	return binary.LittleEndian.Uint32(b[:])
}

// One launch that follows a pointer to more allocations than the memo
// remembers footprints, again and again.
func TestMemoFollowsDataDependentFootprints(t *testing.T) {
	r := newRig(t, Options{})
	out, at := r.buffers[0], r.buffers[1]
	l := one(r.function(oddKernels, "pick"), out, at)
	var targets []device.Ptr
	for range maxFootprints + 2 {
		p, err := r.Alloc(4)
		r.ok(err)
		targets = append(targets, p)
	}
	for round := range 40 {
		i := round % 2 // two targets first: their footprints are kept
		if round >= 20 {
			i = round % len(targets)
		}
		value := uint32(round / 10)
		r.ok(r.Write(targets[i], binary.LittleEndian.AppendUint32(nil, value)))
		r.ok(r.Write(at, binary.LittleEndian.AppendUint64(nil, uint64(targets[i]))))
		r.ok(r.Submit(r.streams[0], l))
		require.Equal(t, value, r.word(out), "round %d", round)
	}
	assert.Positive(t, r.Counters().MemoHits)
	for _, s := range r.memo.shapes {
		assert.LessOrEqual(t, len(s.footprints), maxFootprints)
	}
}

func TestMemoSeesModuleVariablesAndAtomics(t *testing.T) {
	r := newRig(t, Options{})
	l := one(r.function(ticketKernel, "ticket"), r.buffers[0])
	for want := range uint32(10) {
		r.ok(r.Submit(r.streams[0], l))
		require.Equal(t, want, r.word(r.buffers[0]))
	}
}

func TestMemoLeavesClocksAlone(t *testing.T) {
	r := newRig(t, Options{})
	l := one(r.function(oddKernels, "clock"), r.buffers[0])
	for range 10 {
		r.ok(r.Submit(r.streams[0], l))
	}
	r.ok(r.SynchronizeAll())
	assert.EqualValues(t, 10, r.Counters().Launches)
	assert.Zero(t, r.Counters().MemoHits)
}

func TestRequiredBlockIsCheckedWhenSubmitted(t *testing.T) {
	r := newRig(t, Options{})
	l := one(r.function(fixedKernel, "fixed"))
	err := r.Submit(r.streams[0], l)
	assert.EqualError(t, err, "Submit: CUDA_ERROR_INVALID_VALUE (1): kernel fixed: block (1,1,1); it requires [64 1 1]")
	l.Block.X = 64
	r.ok(r.Submit(r.streams[0], l))
	r.ok(r.Synchronize(r.streams[0]))
}

func TestLRUEvictsTheLeastRecentlyUsed(t *testing.T) {
	f := &footprint{results: map[digest]*entry{}}
	l := &lru{limit: 30}
	add := func(name uint64) {
		require.True(t, l.makeRoom(10))
		e := &entry{of: f, key: digest{name}, size: 10}
		f.results[e.key] = e
		l.add(e)
	}
	for name := range uint64(3) {
		add(name)
	}
	l.use(f.results[digest{0}])
	l.use(f.results[digest{0}])
	add(3)
	assert.NotContains(t, f.results, digest{1})
	add(4)
	assert.NotContains(t, f.results, digest{2})
	assert.Contains(t, f.results, digest{0})
	assert.EqualValues(t, 30, l.bytes)
	assert.False(t, l.makeRoom(31))
	require.True(t, l.makeRoom(30))
	assert.Zero(t, l.count)
	assert.Nil(t, l.oldest)
	assert.Nil(t, l.newest)
}
