package sim

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/machine"
)

// board is the devices of a rank that only time large copies, with a buffer and a stream each. Work enqueued by together
// starts at the same time on all of them.
type board struct {
	t       *testing.T
	rank    *machine.Rank
	devices []*Device
	buffers []device.Ptr
	streams []device.Stream
	host    []device.Ptr
	spans   map[string]Span // by label
}

const boardBytes = 64 << 20

func newBoard(t *testing.T, name string, edit func(*machine.Rank)) *board {
	m, err := machine.Lookup(name)
	require.NoError(t, err)
	b := &board{t: t, rank: &m.Ranks[0], spans: map[string]Span{}}
	if edit != nil {
		edit(b.rank)
	}
	b.devices, err = OpenRank(b.rank, Options{Sample: 1, Trace: func(s Span) { b.spans[s.Label] = s }})
	require.NoError(t, err)
	for _, d := range b.devices {
		p, err := d.Alloc(boardBytes)
		b.ok(err)
		h, _, err := d.AllocHost(boardBytes)
		b.ok(err)
		s, err := d.CreateStream(0)
		b.ok(err)
		b.buffers, b.streams, b.host = append(b.buffers, p), append(b.streams, s), append(b.host, h)
		for _, o := range b.devices {
			if d.CanPeer(o) {
				b.ok(d.EnablePeer(o))
			}
		}
	}
	return b
}

func (b *board) ok(err error) {
	b.t.Helper()
	require.NoError(b.t, err)
}

// transfer is a copy between devices, or the host if one is -1. It runs in a stream of its own on device on.
type transfer struct {
	label        string
	on, from, to int
}

// together runs copies of boardBytes that start at once, and returns how long each took.
func (b *board) together(list ...transfer) map[string]time.Duration {
	gate := b.devices[0]
	open, err := gate.CreateEvent()
	b.ok(err)
	for range 10 { // longer than the host takes to enqueue the copies
		b.ok(gate.Submit(b.streams[0], &device.Memset{Dst: b.buffers[0], Width: 4, Count: boardBytes / 4, Label: "gate"}))
	}
	b.ok(gate.Record(open, b.streams[0]))
	at := func(i, other int) device.Ptr {
		if i < 0 {
			return b.host[other]
		}
		return b.buffers[i]
	}
	for _, c := range list {
		d := b.devices[c.on]
		s, err := d.CreateStream(0)
		b.ok(err)
		b.ok(d.WaitPeer(s, gate, open))
		b.ok(d.Submit(s, &device.Copy{Dst: at(c.to, c.from), Src: at(c.from, c.to), Bytes: boardBytes, Label: c.label}))
	}
	for _, d := range b.devices {
		b.ok(d.SynchronizeAll())
	}
	took := map[string]time.Duration{}
	for _, c := range list {
		took[c.label] = b.spans[c.label].End - b.spans[c.label].Begin
	}
	return took
}

// takes returns how long boardBytes take at a bandwidth in GB/s, after a latency in us.
func takes(gbps, latency float64) float64 { return latency*1e3 + boardBytes/gbps }

func TestCopiesOverNVLink(t *testing.T) {
	b := newBoard(t, "h200-4", nil)
	for _, d := range b.together(transfer{"out", 0, 0, 1}, transfer{"back", 1, 1, 0}) {
		assert.InDelta(t, takes(376, 2), d, 3, "both directions at once")
	}
	for _, d := range b.together(transfer{"0", 0, 0, 1}, transfer{"1", 2, 1, 2}, transfer{"2", 2, 2, 3}, transfer{"3", 0, 3, 0}) {
		assert.InDelta(t, takes(376, 2), d, 3, "a ring, in streams of either side, or of a third device")
	}
	for _, d := range b.together(allToAll(4)...) {
		assert.InDelta(t, takes(376.0/3, 2), d, 3)
	}
	for _, d := range b.together(transfer{"a", 1, 1, 0}, transfer{"b", 2, 2, 0}, transfer{"in", 0, -1, 0}) {
		assert.Contains(t, []bool{true}, near(d, takes(188, 2)) || near(d, takes(55, hostLatency(b))), "copies from the host have their own link: %v", d)
	}
}

func near(d time.Duration, want float64) bool { return float64(d) > want-3 && float64(d) < want+3 }

// hostLatency returns the fixed cost of a copy from the host, in us.
func hostLatency(b *board) float64 { return float64(b.devices[0].profile.CopyInLatency) / 1e6 }

func allToAll(n int) (list []transfer) {
	for i := range n {
		for j := range n {
			if i != j {
				list = append(list, transfer{string(rune('a'+i)) + string(rune('a'+j)), i, i, j})
			}
		}
	}
	return list
}

// Four A100 have links of 84 GB/s between each pair, 250 GB/s in all: three pairs are slightly more than a device carries.
func TestCopiesBetweenPairs(t *testing.T) {
	b := newBoard(t, "a100-32x4", nil)
	assert.InDelta(t, takes(84, 2), b.together(transfer{"one", 0, 0, 1})["one"], 3)
	for _, d := range b.together(transfer{"x", 0, 0, 1}, transfer{"y", 0, 0, 1}) {
		assert.InDelta(t, takes(42, 2), d, 3, "two copies of one pair")
	}
	for _, d := range b.together(allToAll(4)...) {
		assert.InDelta(t, takes(250.0/3, 2), d, 3)
	}
}

// Copies between peers at a PCIe switch use the host links of both, and share them with copies to and from the host.
// Copies of two GPUs to the host share the port of their switch.
func TestCopiesAtASwitch(t *testing.T) {
	b := newBoard(t, "rtx4090-4", func(r *machine.Rank) {
		r.Links[0].Peers, r.Links[0].Latency = true, 3e6
	})
	link := b.devices[0].profile.LinkGBps
	assert.Equal(t, 26.0, link)
	out := hostLatency(b)
	got := b.together(transfer{"peer", 0, 0, 1}, transfer{"other switch", 2, 2, -1})
	assert.InDelta(t, takes(link, 3), got["peer"], 3)
	assert.InDelta(t, takes(link, out), got["other switch"], 3)
	got = b.together(transfer{"0", 0, 0, -1}, transfer{"1", 1, 1, -1}, transfer{"2", 2, 2, -1}, transfer{"up", 0, -1, 0})
	assert.InDelta(t, takes(13, out), got["0"], 3, "half of the port")
	assert.InDelta(t, takes(13, out), got["1"], 3)
	assert.InDelta(t, takes(26, out), got["2"], 3)
	got = b.together(transfer{"peer", 0, 0, 1}, transfer{"in", 1, -1, 1})
	assert.InDelta(t, takes(13, 3), got["peer"], 2000, "both go into device 1")
	assert.InDelta(t, takes(13, out), got["in"], 2000)
	assert.False(t, b.devices[2].CanPeer(b.devices[3]))
	assert.False(t, b.devices[1].CanPeer(b.devices[2]))
}

func TestDevicesWithoutALinkAreNoPeers(t *testing.T) {
	b := newBoard(t, "rtx4090-4", nil)
	x, y := b.devices[0], b.devices[1]
	assert.False(t, x.CanPeer(y))
	assert.ErrorContains(t, x.EnablePeer(y), "device sim:rtx4090 is not a peer: no link of the machine makes the two peers; copy through pinned memory instead")
	err := x.Submit(b.streams[0], &device.Copy{Dst: b.buffers[1], Src: b.buffers[0], Bytes: 4})
	assert.Equal(t, device.NotSupported, device.CodeOf(err))
	e, err := x.CreateEvent()
	b.ok(err)
	b.ok(x.Write(b.buffers[0], []byte{1, 2, 3, 4}))
	b.ok(x.Submit(b.streams[0], &device.Copy{Dst: b.host[0], Src: b.buffers[0], Bytes: 4}))
	b.ok(x.Record(e, b.streams[0]))
	b.ok(y.WaitPeer(b.streams[1], x, e))
	b.ok(y.Submit(b.streams[1], &device.Copy{Dst: b.buffers[1], Src: b.host[0], Bytes: 4}))
	b.ok(y.Synchronize(b.streams[1]))
	var got [4]byte
	b.ok(y.Read(got[:], b.buffers[1]))
	assert.Equal(t, [4]byte{1, 2, 3, 4}, got)
}

// A kernel that reads and writes the memory of a peer takes as long as the bytes on the link, and longer beside a copy.
func TestKernelsOverNVLink(t *testing.T) {
	const n = 4 << 20
	m, err := machine.Uniform(1, 2, "h200")
	require.NoError(t, err)
	_, gpus := NewRank(&m.Ranks[0])
	a, b := newUncheckedRig(t, Options{On: gpus[0]}), newUncheckedRig(t, Options{On: gpus[1]})
	a.ok(a.EnablePeer(b.Device))
	b.ok(b.EnablePeer(a.Device))
	here, err := a.Alloc(n)
	a.ok(err)
	there, err := b.Alloc(n)
	a.ok(err)
	launch := func(dst, src device.Ptr) *device.Launch {
		l := a.launchAffine(dst, src, 1, 1)
		binary.LittleEndian.PutUint32(l.Params[24:], n/4)
		l.Grid.X, l.Block.X = n/4/256, 256
		return l
	}
	a.took(launch(here, here))
	overhead, link := a.overhead(), n/376.0
	assert.Less(t, float64(a.took(launch(here, here))-overhead), link/3)
	read, write := float64(a.took(launch(here, there))-overhead), float64(a.took(launch(there, here))-overhead)
	assert.InDelta(t, link, read, link/10)
	assert.InDelta(t, link, write, link/10)
	large, err := a.Alloc(4 * n)
	a.ok(err)
	from, err := b.Alloc(4 * n)
	b.ok(err)
	b.ok(b.Submit(b.streams[0], &device.Copy{Dst: large, Src: from, Bytes: 4 * n}))
	assert.InDelta(t, 2*link, float64(a.took(launch(here, there))-overhead), link/5)
}

// A rank of one device takes the same times as a device that is opened alone.
func TestOneDeviceOfARank(t *testing.T) {
	m, err := machine.Uniform(1, 1, "a100")
	require.NoError(t, err)
	_, gpus := NewRank(&m.Ranks[0])
	alone, ranked := newUncheckedRig(t, Options{Profile: "a100"}), newUncheckedRig(t, Options{Profile: "a100", On: gpus[0]})
	assert.Equal(t, alone.run(3), ranked.run(3))
	assert.Equal(t, alone.Now(), ranked.Now())
	m.Ranks[0].Devices[0].Memory = 1 << 20
	devices, err := OpenRank(&m.Ranks[0], Options{})
	require.NoError(t, err)
	assert.EqualValues(t, 1<<20, devices[0].Info().MemoryBytes)
	assert.Equal(t, "sim:a100", devices[0].Info().ID)
	_, err = OpenRank(&m.Ranks[0], Options{Race: RaceOn, Sample: 1})
	assert.ErrorContains(t, err, "exclude each other")
}
