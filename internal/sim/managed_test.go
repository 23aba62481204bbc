package sim

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
)

// pager measures kernels on managed memory of so many bytes.
type pager struct {
	*rig
	p, q  device.Ptr // managed, and the device's own
	host  []byte
	bytes int64
}

func newPager(t *testing.T, bytes int64, o Options) *pager {
	x := &pager{rig: newUncheckedRig(t, o), bytes: bytes}
	var err error
	x.p, x.host, err = x.AllocManaged(bytes)
	x.ok(err)
	x.q, err = x.Alloc(bytes)
	x.ok(err)
	return x
}

// add is q = src + 1 over n bytes.
func (x *pager) add(dst, src device.Ptr, n int64) *device.Launch {
	l := x.launchAffine(dst, src, 1, 1)
	binary.LittleEndian.PutUint32(l.Params[24:], uint32(n/4))
	l.Grid.X, l.Block.X = uint32(n/4/256), 256
	return l
}

// beside is how much longer a launch takes than the same one without managed memory.
func (x *pager) beside(src device.Ptr, n int64) int64 {
	x.took(x.add(x.q, x.q, n)) // L2 holds what it holds
	without := x.took(x.add(x.q, x.q, n))
	return x.took(x.add(x.q, src, n)) - without
}

func nanoseconds(bytes int64, gbps float64) float64 { return float64(bytes) / gbps }

// What a kernel touches first crosses the link as fast as faults are served, and then
// is on the device until it is sent home.
func TestKernelsFaultManagedMemoryIn(t *testing.T) {
	const n = 1 << 20
	for _, memo := range []Memo{MemoOn, MemoOff} {
		x := newPager(t, n, Options{Memo: memo})
		fault := nanoseconds(n, x.profile.FaultGBps) + float64(x.profile.FaultLatency/model.Nanosecond)
		link := nanoseconds(n, x.profile.LinkGBps) + float64(x.profile.CopyOutLatency/model.Nanosecond)
		for round := range 6 { // from the third on the memo knows the launch
			assert.InDelta(t, fault, x.beside(x.p, n), fault/20, "round %d: it is on the host", round)
			assert.Less(t, float64(x.beside(x.p, n)), fault/50, "round %d: it is there", round)
			before := x.Now()
			x.ok(x.ToHost(x.p, n))
			moved := x.Now() - before
			before = x.Now()
			x.ok(x.ToHost(x.p, n))
			again := x.Now() - before
			assert.InDelta(t, link, int64(moved-again), link/20, "round %d: home at the link's speed, once", round)
		}
	}
}

func TestPrefetchedMemoryDoesNotFault(t *testing.T) {
	const n = 4 << 20
	x := newPager(t, n, Options{})
	link := nanoseconds(n, x.profile.LinkGBps)
	there := &device.Prefetch{At: x.p, Bytes: n, ToDevice: true}
	back := &device.Prefetch{At: x.p, Bytes: n}
	none := float64(x.took(back)) // it is there
	assert.Less(t, none, link/10)
	for range 3 {
		assert.InDelta(t, none+link, x.took(there), link/20)
		assert.InDelta(t, none, x.took(there), 1, "it is there")
		assert.Less(t, float64(x.beside(x.p, n)), link/10)
		assert.InDelta(t, none+link, x.took(back), link/20)
	}
	half := &device.Prefetch{At: x.p, Bytes: n / 2, ToDevice: true}
	assert.InDelta(t, none+link/2, x.took(half), link/20)
	assert.InDelta(t, none+link/2, x.took(there), link/20, "the other half")
}

// Memory moves page by page: what a kernel left alone stays at home.
func TestPagesMoveOneByOne(t *testing.T) {
	const n = 4 << 20
	x := newPager(t, n, Options{})
	wait := float64(x.profile.FaultLatency / model.Nanosecond)
	fault := nanoseconds(n, x.profile.FaultGBps)
	const quarter = n / 4
	assert.InDelta(t, wait+fault/4, x.beside(x.p+quarter, quarter), fault/20, "the second quarter")
	assert.InDelta(t, wait+fault/2, x.beside(x.p, 3*quarter), fault/20, "the first and the third")
	assert.InDelta(t, wait+fault/4, x.beside(x.p, n), fault/20, "the last")
	x.ok(x.ToHost(x.p+5, 1))
	page := nanoseconds(64<<10, x.profile.FaultGBps)
	assert.InDelta(t, wait+page, x.beside(x.p, n), page, "a page of one byte that went home")
}

// Blocks that run side by side fault in what they would one after another.
func TestFaultsDoNotDependOnWorkers(t *testing.T) {
	const n = 1<<20 + 4096
	took := func(workers int) (list []int64) {
		x := newPager(t, n, Options{Workers: workers})
		for _, at := range []int64{0, n / 3 &^ 255, n / 2} {
			list = append(list, x.took(x.add(x.p+device.Ptr(at), x.p+device.Ptr(at), n-at)))
			x.ok(x.ToHost(x.p, at+1))
		}
		return list
	}
	want := took(1)
	for workers := 2; workers <= 4; workers++ {
		assert.Equal(t, want, took(workers), "%d workers", workers)
	}
}

// Two kernels that fault at the same time share what the driver can serve.
func TestFaultsShareTheDriver(t *testing.T) {
	const n = 512 << 10 // both kernels fit on the device together
	x := newPager(t, 2*n, Options{})
	both := func() int64 {
		before := x.Now()
		x.ok(x.Submit(x.streams[0], x.add(x.q, x.p, n)))
		x.ok(x.Submit(x.streams[1], x.add(x.q+n, x.p+n, n)))
		x.ok(x.SynchronizeAll())
		return int64(x.Now() - before)
	}
	fault := nanoseconds(2*n, x.profile.FaultGBps) + float64(x.profile.FaultLatency/model.Nanosecond)
	cold := both()
	assert.InDelta(t, fault, cold-both(), fault/20)
}

// A P100 on PCIe 3 faults 0.96 GB in in about 0.2 s, and moves it in bulk in some 85 ms
// (Parravicini et al. 2020).
func TestFaultsOfAP100(t *testing.T) {
	const n, part = 960e6 / 16, 16
	x := newPager(t, n, Options{Profile: "p100", Sample: 64, Memo: MemoOff})
	assert.InDelta(t, 200e6/part, x.took(x.add(x.q, x.p, n)), 10e6/part)
	x.ok(x.ToHost(x.p, n))
	assert.InDelta(t, 85e6/part, x.took(&device.Prefetch{At: x.p, Bytes: n, ToDevice: true}), 4e6/part)
	assert.Less(t, x.took(x.add(x.q, x.p, n)), int64(8e6/part), "all of it is there, though few blocks ran")
}

// A sampled launch moves what it would touch as a whole, within what its estimates are off.
func TestSampledFaultsAreCloseToWholeOnes(t *testing.T) {
	const n = 16 << 20
	for _, touched := range []int64{n, n / 4, n / 16} {
		took := func(sample int64) int64 {
			x := newPager(t, n, Options{Sample: sample, Memo: MemoOff})
			return x.took(x.add(x.q, x.p, touched))
		}
		assert.InEpsilon(t, took(0), took(32), 0.1, "%d bytes", touched)
	}
}

// Before compute capability 6.0 what a kernel uses moves as a whole before it starts, as
// fast as a copy, and there are no prefetches.
func TestBeforePascalMemoryMovesInBulk(t *testing.T) {
	const n = 4 << 20
	var spans []Span
	x := newPager(t, n, Options{Profile: "gtx960", Trace: func(s Span) { spans = append(spans, s) }})
	link := nanoseconds(n, x.profile.LinkGBps)
	for range 3 {
		assert.InDelta(t, link, x.beside(x.p, n/8), link/20, "all of it, though it is an eighth")
		assert.Less(t, float64(x.beside(x.p, n)), link/20)
		x.ok(x.ToHost(x.p, n))
	}
	refusal := x.Submit(x.streams[0], &device.Prefetch{At: x.p, Bytes: n, ToDevice: true})
	assert.Equal(t, device.InvalidDevice, device.CodeOf(refusal))
	assert.ErrorContains(t, refusal, "compute capability 5.2")

	// The kernel holds nothing while its memory moves: another one runs meanwhile.
	spans = nil
	x.ok(x.Submit(x.streams[0], x.add(x.q, x.p, n)))
	x.ok(x.Submit(x.streams[1], x.add(x.q, x.q, n/8)))
	x.ok(x.SynchronizeAll())
	require.Len(t, spans, 2)
	assert.Less(t, spans[0].End, spans[1].Begin)
}

// A device that closes leaves nothing behind: what it had of managed memory is home again.
func TestManagedMemoryOutlivesADevice(t *testing.T) {
	s := NewSystem()
	a, b := newUncheckedRig(t, Options{On: s.GPU(1 << 30)}), newUncheckedRig(t, Options{On: s.GPU(1 << 30)})
	p, host, err := a.AllocManaged(4 * rigWords)
	a.ok(err)
	host[0] = 7
	first := b.took(b.launchAffine(b.buffers[0], p, 1, 1))
	second := b.took(b.launchAffine(b.buffers[0], p, 1, 1))
	assert.Less(t, second, first)
	taken := a.took(a.launchAffine(a.buffers[0], p, 1, 1))
	cold := float64(first-second) / 20
	assert.InDelta(t, first, taken, cold, "it comes from the other device as it does from the host")
	assert.InDelta(t, first, b.took(b.launchAffine(b.buffers[0], p, 1, 1)), cold, "and back")
	assert.EqualValues(t, 8, b.word(b.buffers[0]))
	before := fmt.Sprint(a.Live())
	require.NoError(t, b.Close())
	assert.InDelta(t, first, a.took(a.launchAffine(a.buffers[0], p, 1, 1)), cold, "it is home")
	assert.Equal(t, before, fmt.Sprint(a.Live()))
}
