package sim

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// A sampled device times the copies and fills of streams and does not make them, but
// for those so small that they may steer a kernel. What the host copies itself is there.
func TestSampledDevicesMoveWhatTheHostWrites(t *testing.T) {
	took := map[bool]int64{}
	for _, sampled := range []bool{false, true} {
		d := open(t, Options{Sample: map[bool]int64{true: 4}[sampled]})
		const n = 1 << 20
		p, err := d.Alloc(n)
		require.NoError(t, err)
		q, err := d.Alloc(n)
		require.NoError(t, err)
		s, err := d.CreateStream(0)
		require.NoError(t, err)
		ones := make([]byte, n)
		for i := range ones {
			ones[i] = 1
		}
		require.NoError(t, d.Write(p, ones))
		begun := d.Now()
		require.NoError(t, d.Submit(s, &device.Copy{Dst: q, Src: p, Bytes: n}))
		require.NoError(t, d.Submit(s, &device.Memset{Dst: p + 8192, Value: 2, Width: 1, Count: maxControlBytes}))
		require.NoError(t, d.Submit(s, &device.Memset{Dst: p + 65536, Value: 3, Width: 1, Count: maxControlBytes + 1}))
		require.NoError(t, d.Synchronize(s))
		took[sampled] = int64(d.Now() - begun)
		at := func(p device.Ptr) byte {
			var b [1]byte
			require.NoError(t, d.Read(b[:], p))
			return b[0]
		}
		assert.Equal(t, byte(1), at(p))
		assert.Equal(t, byte(2), at(p+8192+maxControlBytes-1))
		assert.Equal(t, sampled, at(p+65536) == 1, "a large fill is made only on a device that computes")
		assert.Equal(t, sampled, at(q) == 0, "so is a copy")
		require.NoError(t, d.Close())
	}
	assert.Equal(t, took[false], took[true])
}

// A launch that a sampled device has run is not run again until the host writes what
// it touches, and no byte of memory is looked at to know that.
func TestSampledDevicesRepeatWithoutLooking(t *testing.T) {
	r := newUncheckedRig(t, Options{Sample: 1})
	out, at, target := r.buffers[0], r.buffers[1], r.buffers[2]
	l := one(r.function(oddKernels, "pick"), out, at)
	aim := func() { r.ok(r.Write(at, binary.LittleEndian.AppendUint64(nil, uint64(target)))) }
	launch := func() {
		r.ok(r.Submit(r.streams[0], l))
		r.ok(r.Submit(r.streams[0], &device.Memset{Dst: out, Width: 4, Count: 1}))
		r.ok(r.SynchronizeAll())
	}
	aim()
	hashed := r.Counters().MemoHashed
	for range 5 {
		launch()
	}
	assert.EqualValues(t, 4, r.Counters().MemoHits)
	aim()
	launch()
	assert.EqualValues(t, 4, r.Counters().MemoHits)
	launch()
	assert.EqualValues(t, 5, r.Counters().MemoHits)
	assert.EqualValues(t, 7*16, r.Counters().MemoHashed-hashed, "the parameters of seven launches")
}

// A copy of a stream that brings what steers a kernel, as one of a few bytes may, is not
// missed; one that brings the same again changes nothing.
func TestSampledDevicesSeeWhatStreamsBring(t *testing.T) {
	r := newUncheckedRig(t, Options{Sample: 1})
	out, at := r.buffers[0], r.buffers[1]
	l := one(r.function(oddKernels, "pick"), out, at)
	host, bytes, err := r.AllocHost(8)
	r.ok(err)
	for i, c := range []struct {
		target device.Ptr
		hits   int64
	}{{r.buffers[2], 0}, {out, 0}, {out, 1}, {r.buffers[2], 1}} {
		binary.LittleEndian.PutUint64(bytes, uint64(c.target))
		r.ok(r.Submit(r.streams[0], &device.Copy{Dst: at, Src: host, Bytes: 8}))
		r.ok(r.Submit(r.streams[0], l))
		r.ok(r.SynchronizeAll())
		assert.EqualValues(t, c.hits, r.Counters().MemoHits, "copy %d", i)
	}
}
