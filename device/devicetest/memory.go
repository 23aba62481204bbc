package devicetest

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

var memoryBehaviours = []behaviour{
	{"memory/round trip of odd sizes", roundTrip},
	{"memory/zero bytes", zeroBytes},
	{"memory/alignment", alignment},
	{"memory/memset widths", memsetWidths},
	{"memory/copies between pinned and device memory", pinnedCopies},
	{"memory/overlapping parts of a buffer", partialCopies},
	{"memory/module variables", moduleVariables},
	{"memory/accounting", accounting},
	{"memory/allocations are known until they are freed", ledger},
}

func ledger(t *testing.T, b *bench) {
	l, ok := b.Device.(device.Ledger)
	if !ok {
		t.Skip("the device keeps no ledger")
	}
	p, err := b.Alloc(100)
	require.NoError(t, err)
	q, _ := b.allocHost(100)
	freed := l.Freed()
	a, err := l.Allocation(p+10, 90)
	require.NoError(t, err)
	assert.Equal(t, device.Allocation{Base: p, Bytes: 100, Kind: device.DeviceMemory, Serial: a.Serial}, a)
	pinned, err := l.Allocation(q, 0)
	require.NoError(t, err)
	assert.Equal(t, device.PinnedMemory, pinned.Kind)
	assert.NotEqual(t, a.Serial, pinned.Serial)
	_, err = l.Allocation(p+10, 91)
	refused(t, err, "Allocation", device.InvalidValue)
	assert.Equal(t, freed, l.Freed())

	require.NoError(t, b.Free(p))
	assert.Equal(t, freed+1, l.Freed())
	_, err = l.Allocation(p, 0)
	refused(t, err, "Allocation", device.InvalidValue)
	again, err := l.Allocation(b.alloc(100), 0)
	require.NoError(t, err)
	assert.Greater(t, again.Serial, a.Serial, "also if the address has come again")
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8 + 1)
	}
	return b
}

func roundTrip(t *testing.T, b *bench) {
	for _, n := range []int{1, 3, 17, 255, 256, 4097, 1<<20 + 1} {
		want := pattern(n)
		p := b.buffer(want)
		assert.True(t, bytes.Equal(want, b.read(p, n)), "%d bytes come back", n)
	}
}

func zeroBytes(t *testing.T, b *bench) {
	p, q := b.alloc(0), b.alloc(0)
	assert.NotZero(t, p)
	assert.NotEqual(t, p, q, "every allocation has an address of its own")
	assert.NoError(t, b.Write(p, nil))
	assert.NoError(t, b.Read(nil, p))
	s := b.stream()
	b.submit(s, &device.Copy{Dst: p, Src: q}, &device.Memset{Dst: p, Width: 4})
	assert.NoError(t, b.Synchronize(s))
}

// Variables have the initial values of the PTX, and the host can write them. Each module has its own, and only
// UnloadModule frees them.
func moduleVariables(t *testing.T, b *bench) {
	mine, other := b.module(), b.module()
	table, bytes, err := b.Global(mine, "table")
	require.NoError(t, err)
	assert.EqualValues(t, 16, bytes)
	bias, bytes, err := b.Global(mine, "bias")
	require.NoError(t, err)
	assert.EqualValues(t, 4, bytes)

	lookup := func(m device.Module) []byte {
		f, err := b.Function(m, "lookup")
		require.NoError(t, err)
		dst, s := b.alloc(4*6), b.stream()
		b.submit(s, &device.Launch{Function: f, Grid: device.Dim3{X: 1, Y: 1, Z: 1}, Block: device.Dim3{X: 32, Y: 1, Z: 1},
			Params: binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, uint64(dst)), 6)})
		return b.read(dst, 4*6)
	}
	fresh := []uint32{10, 20, 30, 40, 10, 20}
	assert.Equal(t, words(6, func(i int) uint32 { return fresh[i] }), lookup(mine))
	require.NoError(t, b.Write(bias, []byte{5, 0, 0, 0}))
	require.NoError(t, b.Write(table+4, []byte{1, 0, 0, 0}))
	written := []uint32{15, 6, 35, 45, 15, 6}
	assert.Equal(t, words(6, func(i int) uint32 { return written[i] }), lookup(mine))
	assert.Equal(t, words(6, func(i int) uint32 { return fresh[i] }), lookup(other))
	refused(t, b.Write(table+16, []byte{1}), "Write", device.InvalidValue)
	refused(t, b.Free(table), "Free", device.InvalidValue)
}

func alignment(t *testing.T, b *bench) {
	for _, n := range []int64{1, 100, 256, 1000} {
		assert.Zero(t, b.alloc(n)%256, "%d bytes", n)
	}
}

func memsetWidths(t *testing.T, b *bench) {
	s := b.stream()
	for _, width := range []int{1, 2, 4} {
		p := b.buffer(pattern(16 + 3*width))
		b.submit(s, &device.Memset{Dst: p + 8, Value: 0xA1B2C3D4, Width: width, Count: 3})
		require.NoError(t, b.Synchronize(s))
		want := pattern(16 + 3*width)
		element := binary.LittleEndian.AppendUint32(nil, 0xA1B2C3D4)[:width]
		copy(want[8:], bytes.Repeat(element, 3))
		assert.Equal(t, want, b.read(p, len(want)), "width %d", width)
	}
}

func pinnedCopies(t *testing.T, b *bench) {
	s := b.stream()
	in, inBytes := b.allocHost(1001)
	out, outBytes := b.allocHost(1001)
	p, q := b.alloc(1001), b.alloc(1001)
	copy(inBytes, pattern(1001))
	b.submit(s,
		&device.Copy{Dst: p, Src: in, Bytes: 1001},
		&device.Copy{Dst: q, Src: p, Bytes: 1001},
		&device.Copy{Dst: out, Src: q, Bytes: 1001})
	require.NoError(t, b.Synchronize(s))
	assert.Equal(t, pattern(1001), outBytes)
	clear(outBytes)
	b.submit(s, &device.Copy{Dst: out, Src: in, Bytes: 1001})
	require.NoError(t, b.Synchronize(s))
	assert.Equal(t, pattern(1001), outBytes, "host to host")
}

func partialCopies(t *testing.T, b *bench) {
	s := b.stream()
	p := b.buffer(pattern(100))
	b.submit(s, &device.Copy{Dst: p + 50, Src: p + 10, Bytes: 40})
	require.NoError(t, b.Synchronize(s))
	want := pattern(100)
	copy(want[50:], want[10:50])
	assert.Equal(t, want, b.read(p, 100))
	require.NoError(t, b.Write(p+3, []byte{1, 2, 3}))
	assert.Equal(t, []byte{want[2], 1, 2, 3, want[6]}, b.read(p+2, 5))
}

func accounting(t *testing.T, b *bench) {
	a, ok := b.Device.(device.Accounter)
	if !ok {
		t.Skip("the device keeps no accounts")
	}
	p, err := b.Alloc(1000)
	require.NoError(t, err)
	h, _, err := b.AllocHost(24)
	require.NoError(t, err)
	assert.Equal(t, device.Live{Bytes: 1024, Allocations: 2}, a.Live())
	require.NoError(t, b.Free(p))
	require.NoError(t, b.Free(h))
	b.stream()
	b.event()
	b.instantiate(b.graph())
	b.compile()
	b.module()
	assert.Equal(t, device.Live{Modules: 1, Streams: 1, Events: 1, Graphs: 1, Execs: 1, Lists: 1}, a.Live())
}
