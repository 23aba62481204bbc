package sim

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// lend gives a rig's devices host memory of rigWords words.
func (r *rig) lend() (device.Ptr, []uint32) {
	words := make([]uint32, rigWords)
	r.t.Cleanup(func() { _ = words })
	p, err := r.LendHost(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 4*rigWords), "the lent words")
	r.ok(err)
	return p, words
}

func (r *rig) took(w device.Work) int64 {
	before := r.Now()
	r.ok(r.Submit(r.streams[0], w))
	r.ok(r.Synchronize(r.streams[0]))
	return int64(r.Now() - before)
}

func TestAddressesOfASystemAreDistinct(t *testing.T) {
	s := NewSystem()
	a, b := open(t, Options{On: s.GPU(1 << 40)}), open(t, Options{On: s.GPU(1 << 40)})
	seen := map[device.Ptr]bool{}
	last := device.Ptr(0)
	for i := range 100 {
		d := a
		if i%3 == 0 {
			d = b
		}
		p, err := d.Alloc(int64(i) * 100)
		require.NoError(t, err)
		require.False(t, seen[p])
		require.Greater(t, p, last)
		last = p + device.Ptr(i*100)
		seen[p] = true
		if i > 0 {
			assert.Same(t, d, s.Owner(p))
			base, n, ok := s.Range(p + device.Ptr(i*100) - 1)
			assert.True(t, ok)
			assert.Equal(t, p, base)
			assert.EqualValues(t, i*100, n)
		}
	}
	alone := open(t, Options{})
	p, err := alone.Alloc(1)
	require.NoError(t, err)
	assert.False(t, seen[p], "a device of its own has other addresses than those of a system")
}

func TestContextsShareTheMemoryOfTheirGPU(t *testing.T) {
	s := NewSystem()
	g, other := s.GPU(1000), s.GPU(1000)
	a, b, c := open(t, Options{On: g}), open(t, Options{On: g}), open(t, Options{On: other})
	_, err := a.Alloc(600)
	require.NoError(t, err)
	_, err = b.Alloc(600)
	assert.Equal(t, device.OutOfMemory, device.CodeOf(err))
	_, err = c.Alloc(600)
	assert.NoError(t, err)
	free, total := g.Memory()
	assert.EqualValues(t, 400, free)
	assert.EqualValues(t, 1000, total)
	assert.False(t, g.Reserve(401))
	assert.True(t, g.Reserve(400))
	assert.True(t, g.Reserve(-400))
	require.NoError(t, a.Close())
	_, err = b.Alloc(1000)
	assert.NoError(t, err, "what a closed device had is free")
}

// More memory than the host has costs nothing while nobody touches it.
func TestUntouchedMemoryIsFree(t *testing.T) {
	d := open(t, Options{})
	for range 3 {
		p, err := d.Alloc(100 << 30)
		require.NoError(t, err)
		require.NoError(t, d.Write(p+99<<30, []byte{1, 2, 3}))
		var b [4]byte
		require.NoError(t, d.Read(b[:], p+99<<30))
		assert.Equal(t, [4]byte{1, 2, 3, 0}, b)
		require.NoError(t, d.Free(p))
	}
	require.NoError(t, d.Close())
}

// Kernels read and write lent memory in place, also what the host changed since the
// memo saw it last.
func TestKernelsReachLentMemory(t *testing.T) {
	for _, memo := range []Memo{MemoOn, MemoOff} {
		r := newUncheckedRig(t, Options{Memo: memo})
		p, words := r.lend()
		q, more := r.lend()
		for i := range 20 {
			words[7] = uint32(i / 4) // repeats, so that the memo has something to remember
			r.took(r.launchAffine(r.buffers[0], p, 3, 1))
			assert.Equal(t, uint32(i/4)*3+1, r.word(r.buffers[0]+28))
			more[7] = 99
			r.took(r.launchAffine(q, r.buffers[0], 2, 0))
			assert.Equal(t, uint32(i/4)*6+2, more[7])
		}
		r.ok(r.Free(p))
		r.ok(r.Submit(r.streams[0], r.launchAffine(q, p, 1, 1)))
		assert.Equal(t, device.IllegalAddress, device.CodeOf(r.Synchronize(r.streams[0])), "withdrawn")
	}
}

func TestPinnedMemoryThatIsNotLentIsNoKernels(t *testing.T) {
	r := newRig(t, Options{})
	r.ok(r.Submit(r.streams[0], r.launchAffine(r.buffers[0], r.pinned, 1, 1)))
	assert.ErrorContains(t, r.Synchronize(r.streams[0]), "0 bytes into the 1200-byte pinned allocation, memory of the host that kernels cannot reach")
}

func TestLentMemoryMustNotOverlap(t *testing.T) {
	s := open(t, Options{})
	words := make([]byte, 4096)
	for _, lend := range [][2]int{{1000, 2000}, {2000, 3000}, {0, 1000}} {
		_, err := s.LendHost(words[lend[0]:lend[1]], "a part")
		require.NoError(t, err, "neighbours")
	}
	for _, lend := range [][2]int{{1000, 2000}, {999, 1001}, {1500, 1501}, {0, 4096}, {2999, 3001}} {
		_, err := s.LendHost(words[lend[0]:lend[1]], "another")
		require.ErrorContains(t, err, "some of them are known already")
	}
	assert.Error(t, s.Free(device.Ptr(uintptr(unsafe.Pointer(&words[1001])))), "not where one starts")
}

// What kernels touch of lent memory crosses the link, 1200 bytes at 55 GB/s in 22 ns, in
// every launch.
func TestLentMemoryCostsTheLink(t *testing.T) {
	const n = 8 << 20
	r := newUncheckedRig(t, Options{})
	words := make([]uint32, n/4)
	p, err := r.LendHost(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n), "lent")
	r.ok(err)
	q, err := r.Alloc(n)
	r.ok(err)
	add := func(src device.Ptr) *device.Launch {
		l := r.launchAffine(q, src, 1, 1)
		binary.LittleEndian.PutUint32(l.Params[24:], n/4)
		l.Grid.X, l.Block.X = n/4/256, 256
		return l
	}
	r.took(add(q))
	here, away := r.took(add(q)), r.took(add(p))
	link := int64(n) * 1e9 / int64(r.profile.LinkGBps*1e9)
	assert.InDelta(t, link, away-r.overhead(), float64(link)/10)
	assert.Less(t, here-r.overhead(), link/5)
	runOf := binary.LittleEndian.Uint32(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 4))
	assert.Zero(t, runOf, "only read")
	runOf = r.word(q + n - 4)
	assert.EqualValues(t, 1, runOf)
}

// overhead is what a launch of next to nothing takes from call to return.
func (r *rig) overhead() int64 { return r.took(r.launchAffine(r.buffers[0], r.buffers[1], 1, 1)) }

// A kernel reaches another device's memory only as its peer, and the memo of the
// device whose memory it changes learns of it.
func TestPeers(t *testing.T) {
	s := NewSystem()
	a, b := newUncheckedRig(t, Options{On: s.GPU(1 << 30)}), newUncheckedRig(t, Options{On: s.GPU(1 << 30)})
	a.ok(a.EnablePeer(b.Device))
	for i := range uint32(12) {
		b.took(&device.Memset{Dst: b.buffers[0], Value: i / 4, Width: 4, Count: rigWords})
		a.took(a.launchAffine(a.buffers[0], b.buffers[0], 2, 1))
		assert.Equal(t, i/4*2+1, a.word(a.buffers[0]))
		a.took(a.launchAffine(b.buffers[1], a.buffers[0], 1, 1))
		b.took(b.launchAffine(b.buffers[2], b.buffers[1], 1, 1))
		assert.Equal(t, i/4*2+3, b.word(b.buffers[2]))
		a.took(&device.Copy{Dst: b.buffers[1], Src: a.buffers[0], Bytes: 8})
		b.took(b.launchAffine(b.buffers[2], b.buffers[1], 1, 1))
		assert.Equal(t, i/4*2+2, b.word(b.buffers[2]))
	}
	a.DisablePeer(b.Device)
	a.ok(a.Submit(a.streams[0], a.launchAffine(a.buffers[0], b.buffers[0], 2, 1)))
	assert.ErrorContains(t, a.Synchronize(a.streams[0]), "of another context, whose memory kernels reach only with peer access")
	b.took(device.Nothing{})
}

// Memory released in a stream is there until its turn comes, and then it is not.
func TestRelease(t *testing.T) {
	r := newUncheckedRig(t, Options{})
	p, err := r.Alloc(4 * rigWords)
	r.ok(err)
	before := r.Live()
	done := 0
	r.ok(r.Submit(r.streams[0], r.launchAffine(p, r.buffers[0], 0, 5)))
	r.ok(r.Submit(r.streams[0], &device.Copy{Dst: r.buffers[1], Src: p, Bytes: 4 * rigWords}))
	r.ok(r.Submit(r.streams[0], &Release{At: p, Done: func() { done++ }}))
	assert.Zero(t, done)
	r.ok(r.Synchronize(r.streams[0]))
	assert.Equal(t, 1, done)
	assert.EqualValues(t, 5, r.word(r.buffers[1]))
	assert.Equal(t, before.Allocations-1, r.Live().Allocations)
	r.ok(r.Submit(r.streams[0], r.launchAffine(r.buffers[1], p, 1, 1)))
	assert.ErrorContains(t, r.Synchronize(r.streams[0]), "which was freed")
}
