package devicetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// peerBehaviour is one requirement that two devices of one process, which can be peers, must meet.
type peerBehaviour struct {
	name string
	run  func(t *testing.T, a, b *bench)
}

var peerBehaviours = []peerBehaviour{
	{"peers/enabling", enabling},
	{"peers/copies in a stream of either", peerCopies},
	{"peers/copies without access are refused", peerCopiesRefused},
	{"peers/copies in graphs and lists", peerNodes},
	{"peers/graphs with nodes of both", peerGraphs},
	{"peers/pinned memory of either", peerPinned},
	{"peers/only copies cross devices", onlyCopies},
	{"peers/kernels access the other memory", peerKernels},
	{"peers/events order devices", peerEvents},
	{"peers/wait takes the last record before it", peerLastRecord},
	{"peers/wait for an event never recorded", peerUnrecorded},
	{"peers/lists wait for each other, going round", peerLists},
	{"peers/lists submitted in parts", peerParts},
	{"peers/invalid arguments", peerInvalid},
	{"peers/destroyed events", peerDestroyed},
	{"peers/closed device", peerClosed},
	{"peers/a fault stays on its device", peerFault},
}

// RunPeers is Run for the behaviours of device.Peer. Function open returns two devices of one process that can be peers
// of each other; RunPeers closes both.
func RunPeers(t *testing.T, open func() (a, b device.Device), unsupported map[string]string) {
	known := map[string]bool{}
	for _, p := range peerBehaviours {
		known[p.name] = true
		t.Run(p.name, func(t *testing.T) {
			if why, ok := unsupported[p.name]; ok {
				t.Skip("unsupported: " + why)
			}
			first, second := open()
			a, b := &bench{Device: first, t: t}, &bench{Device: second, t: t}
			defer func() { // runs after failed tests, too: devices may share what a test left broken
				for _, w := range []*bench{a, b} {
					if !w.closed {
						assert.NoError(t, w.Close())
					}
				}
			}()
			p.run(t, a, b)
			for _, w := range []*bench{b, a} {
				if !t.Failed() && !w.poisoned && !w.closed {
					w.clear()
				}
			}
		})
	}
	for name := range unsupported {
		assert.True(t, known[name], "no behaviour is called %q", name)
	}
}

// CanPeer, EnablePeer and WaitPeer are those of the device.
func (b *bench) CanPeer(other device.Device) bool { return b.Device.(device.Peer).CanPeer(other) }
func (b *bench) EnablePeer(other device.Device) error {
	return b.Device.(device.Peer).EnablePeer(other)
}
func (b *bench) WaitPeer(s device.Stream, other device.Device, e device.Event) error {
	return b.Device.(device.Peer).WaitPeer(s, other, e)
}

// enable makes both devices access the memory of the other.
func enable(t *testing.T, a, b *bench) {
	t.Helper()
	require.NoError(t, a.EnablePeer(b.Device))
	require.NoError(t, b.EnablePeer(a.Device))
}

// follow makes a stream wait for what is in a stream of another device now.
func (b *bench) follow(s device.Stream, other *bench, of device.Stream, e device.Event) {
	b.t.Helper()
	require.NoError(b.t, other.Record(e, of))
	require.NoError(b.t, b.WaitPeer(s, other.Device, e))
}

func enabling(t *testing.T, a, b *bench) {
	assert.True(t, a.CanPeer(b.Device))
	assert.True(t, b.CanPeer(a.Device))
	assert.False(t, a.CanPeer(a.Device))
	assert.False(t, a.CanPeer(nil))
	enable(t, a, b)
	enable(t, a, b)
	p, q := a.alloc(1<<20), b.alloc(1<<20)
	assert.True(t, p+1<<20 <= q || q+1<<20 <= p, "addresses are distinct")
}

func peerCopies(t *testing.T, a, b *bench) {
	enable(t, a, b)
	for _, by := range []*bench{a, b} {
		s := by.stream()
		for _, n := range []int{1, 4097, 1<<20 + 1} {
			p, q := a.buffer(pattern(n)), b.alloc(int64(n))
			by.submit(s, &device.Copy{Dst: q, Src: p, Bytes: int64(n)}, &device.Copy{Dst: p, Src: q + 1, Bytes: int64(n) - 1})
			require.NoError(t, by.Synchronize(s))
			assert.Equal(t, pattern(n), b.read(q, n))
			assert.Equal(t, pattern(n)[1:], a.read(p, n-1))
		}
	}
}

func peerCopiesRefused(t *testing.T, a, b *bench) {
	p, q := a.buffer(words(n, index)), b.alloc(4*n)
	s, g := a.stream(), a.graph()
	work := &device.Copy{Dst: q, Src: p, Bytes: 4 * n}
	refused(t, a.Submit(s, work), "Submit", device.NotSupported)
	assert.ErrorContains(t, a.Submit(s, &device.Copy{Dst: p, Src: q, Bytes: 4 * n}), "EnablePeer")
	_, err := a.AddNode(g, nil, work)
	refused(t, err, "AddNode", device.NotSupported)
	_, err = a.CompileCommands([]device.Command{{Stream: s, Work: work}})
	refused(t, err, "CompileCommands", device.NotSupported)
	require.NoError(t, b.EnablePeer(a.Device))
	refused(t, a.Submit(s, work), "Submit", device.NotSupported)
	u := b.stream()
	b.submit(u, work)
	require.NoError(t, b.Synchronize(u))
	require.NoError(t, a.Synchronize(s))
	assert.Equal(t, words(n, index), b.read(q, 4*n), "access is of the device of the stream")
	refused(t, b.Submit(u, &device.Copy{Dst: q, Src: p, Bytes: 4*n + 1}), "Submit", device.InvalidValue)
}

func peerNodes(t *testing.T, a, b *bench) {
	enable(t, a, b)
	f := a.function("affine")
	p, q, r := a.buffer(words(n, index)), b.alloc(4*n), a.alloc(4*n)
	g, s := a.graph(), a.stream()
	out := a.node(g, &device.Copy{Dst: q, Src: p, Bytes: 4 * n})
	back := a.node(g, &device.Copy{Dst: r, Src: q, Bytes: 4 * n}, out)
	a.node(g, affine(f, r, r, 2, 1, n), back)
	x := a.instantiate(g)
	require.NoError(t, a.LaunchGraph(x, s))
	require.NoError(t, a.Synchronize(s))
	assert.Equal(t, words(n, func(i int) uint32 { return 2*uint32(i) + 1 }), a.read(r, 4*n))
	// An update keeps the device of each side, as drivers require.
	require.NoError(t, a.UpdateNode(x, back, &device.Copy{Dst: p, Src: q + 4, Bytes: 4 * (n - 1)}))
	require.NoError(t, a.UpdateNode(x, out, &device.Copy{Dst: q, Src: r, Bytes: 4 * n}))
	l := a.compile(device.Command{Kind: device.RunGraph, Stream: s, Exec: x}, device.Command{Stream: s, Work: &device.Copy{Dst: q + 4, Src: p, Bytes: 8}})
	require.NoError(t, a.SubmitCommands(l, 0, 1))
	require.NoError(t, a.UpdateCommand(l, 1, &device.Copy{Dst: q, Src: p + 40, Bytes: 4}))
	require.NoError(t, a.SubmitCommands(l, 1, 1))
	require.NoError(t, a.Synchronize(s))
	assert.Equal(t, words(2, func(i int) uint32 { return []uint32{23, 3}[i] }), b.read(q, 8))
	assert.Equal(t, words(1, constant(3)), a.read(p, 4))
}

// peerGraphs passes a value from device to device inside a graph, and beside it works on both.
func peerGraphs(t *testing.T, a, b *bench) {
	enable(t, a, b)
	enable(t, b, a)
	fa, fb := a.function("affine"), b.function("affine")
	p, q, beside := a.buffer(words(n, index)), b.alloc(4*n), b.buffer(words(n, index))
	g, s := a.graph(), a.stream()
	peerNode := func(w device.Work, deps ...device.Node) device.Node {
		node, err := a.Device.(device.Peer).AddPeerNode(g, deps, b.Device, w)
		require.NoError(t, err)
		return node
	}
	first := a.node(g, affine(fa, p, p, 2, 0, n))
	there := a.node(g, &device.Copy{Dst: q, Src: p, Bytes: 4 * n}, first)
	peerNode(affine(fb, beside, beside, 1, 1, n))
	fill := peerNode(&device.Memset{Dst: q, Value: 5, Width: 4, Count: 2}, there)
	work := peerNode(affine(fb, q, q, 1, 7, n), fill)
	back := peerNode(&device.Copy{Dst: p, Src: q, Bytes: 4 * n}, work)
	a.node(g, affine(fa, p, p, 1, 1, n), back)
	x := a.instantiate(g)
	for range 2 {
		require.NoError(t, a.LaunchGraph(x, s))
	}
	require.NoError(t, a.Synchronize(s))
	want := words(n, func(i int) uint32 {
		if i < 2 {
			return 13
		}
		return 2*(2*uint32(i)+8) + 8
	})
	assert.Equal(t, want, a.read(p, 4*n))
	assert.Equal(t, words(n, func(i int) uint32 { return uint32(i) + 2 }), b.read(beside, 4*n))

	peer := a.Device.(device.Peer)
	_, err := peer.AddPeerNode(g, nil, nil, device.Nothing{})
	refused(t, err, "AddPeerNode", device.InvalidValue)
	_, err = peer.AddPeerNode(g, nil, a.Device, device.Nothing{})
	refused(t, err, "AddPeerNode", device.NotSupported)
	_, err = peer.AddPeerNode(g, []device.Node{99}, b.Device, device.Nothing{})
	refused(t, err, "AddPeerNode", device.InvalidHandle)
	_, err = peer.AddPeerNode(0, nil, b.Device, device.Nothing{})
	refused(t, err, "AddPeerNode", device.InvalidHandle)
	_, err = peer.AddPeerNode(g, nil, b.Device, &device.Memset{Dst: p, Width: 4, Count: 1})
	refused(t, err, "AddPeerNode", device.NotSupported)
}

func peerPinned(t *testing.T, a, b *bench) {
	p, q := a.buffer(pattern(1001)), b.alloc(1001)
	h, host := b.allocHost(1001)
	s, u, e := a.stream(), b.stream(), a.event()
	a.submit(s, &device.Copy{Dst: h, Src: p, Bytes: 1001})
	b.follow(u, a, s, e)
	b.submit(u, &device.Copy{Dst: q, Src: h, Bytes: 1001})
	require.NoError(t, b.Synchronize(u))
	assert.Equal(t, pattern(1001), b.read(q, 1001))
	assert.Equal(t, pattern(1001), host)
	refused(t, a.Submit(s, &device.Copy{Dst: h, Src: p, Bytes: 1002}), "Submit", device.InvalidValue)
}

func onlyCopies(t *testing.T, a, b *bench) {
	enable(t, a, b)
	p := b.buffer(words(4, index))
	s, g := a.stream(), a.graph()
	fill := &device.Memset{Dst: p, Width: 4, Count: 4}
	refused(t, a.Submit(s, fill), "Submit", device.NotSupported)
	_, err := a.AddNode(g, nil, fill)
	refused(t, err, "AddNode", device.NotSupported)
	refused(t, a.Write(p, []byte{1}), "Write", device.NotSupported)
	refused(t, a.Read(make([]byte, 1), p), "Read", device.NotSupported)
	refused(t, a.Free(p), "Free", device.InvalidValue)
	assert.Equal(t, words(4, index), b.read(p, 16))
}

func peerKernels(t *testing.T, a, b *bench) {
	early := b.buffer(words(n, index))
	enable(t, a, b)
	late, own := b.alloc(4*n), a.alloc(4*n)
	f, s := a.function("affine"), a.stream()
	for round := range uint32(3) {
		a.submit(s, affine(f, own, early, 2, round, n), affine(f, late, own, 3, 1, n))
		require.NoError(t, a.Synchronize(s))
		assert.Equal(t, words(n, func(i int) uint32 { return 6*uint32(i) + 3*round + 1 }), b.read(late, 4*n))
	}
}

// peerEvents passes a value to and fro, each time with one more operation.
func peerEvents(t *testing.T, a, b *bench) {
	enable(t, a, b)
	on := []*bench{a, b}
	streams := []device.Stream{a.stream(), b.stream()}
	memory := []device.Ptr{a.buffer(words(n, constant(1))), b.alloc(4 * n)}
	kernels := []device.Function{a.function("affine"), b.function("affine")}
	want := uint32(1)
	for i := range 20 {
		from, to := i%2, (i+1)%2
		d := on[to]
		on[from].submit(streams[from], affine(kernels[from], memory[from], memory[from], 3, uint32(i), n))
		want = 3*want + uint32(i)
		d.follow(streams[to], on[from], streams[from], on[from].event())
		d.submit(streams[to], &device.Copy{Dst: memory[to], Src: memory[from], Bytes: 4 * n})
	}
	require.NoError(t, a.Synchronize(streams[0]))
	assert.Equal(t, words(n, constant(want)), a.read(memory[0], 4*n))
}

func peerLastRecord(t *testing.T, a, b *bench) {
	require.NoError(t, b.EnablePeer(a.Device))
	s, u, e, done := a.stream(), b.stream(), a.event(), b.event()
	f := a.function("affine")
	x, y := a.buffer(words(n, constant(1))), b.alloc(4*n)
	a.submit(s, affine(f, x, x, 1, 1, n))
	b.follow(u, a, s, e)
	b.submit(u, &device.Copy{Dst: y, Src: x, Bytes: 4 * n})
	a.follow(s, b, u, done)
	require.NoError(t, a.Record(e, s))
	a.submit(s, affine(f, x, x, 1, 100, n))
	require.NoError(t, a.SynchronizeAll())
	require.NoError(t, b.SynchronizeAll())
	assert.Equal(t, words(n, constant(2)), b.read(y, 4*n))
	assert.Equal(t, words(n, constant(102)), a.read(x, 4*n))
}

func peerUnrecorded(t *testing.T, a, b *bench) {
	s, e := a.stream(), b.event()
	require.NoError(t, a.WaitPeer(s, b.Device, e))
	l := a.compile(device.Command{Kind: device.AwaitPeer, Stream: s, Event: e, Peer: b.Device})
	require.NoError(t, a.SubmitCommands(l, 0, 3))
	assert.NoError(t, a.Synchronize(s))
}

// pingPong returns a list for each device. A list waits for the other device, takes its word, computes, and records.
func pingPong(t *testing.T, a, b *bench) (lists []device.CommandList, word device.Ptr, s device.Stream) {
	enable(t, a, b)
	on := []*bench{a, b}
	streams := []device.Stream{a.stream(), b.stream()}
	events := []device.Event{a.event(), b.event()}
	memory := []device.Ptr{a.buffer(words(1, constant(0))), b.buffer(words(1, constant(1)))}
	for i, d := range on {
		other := 1 - i
		lists = append(lists, d.compile(
			device.Command{Kind: device.AwaitPeer, Stream: streams[i], Event: events[other], Peer: on[other].Device},
			device.Command{Stream: streams[i], Work: &device.Copy{Dst: memory[i], Src: memory[other], Bytes: 4}},
			device.Command{Stream: streams[i], Work: affine(d.function("affine"), memory[i], memory[i], 3, uint32(i)+1, 1)},
			device.Command{Kind: device.Record, Stream: streams[i], Event: events[i]},
		))
	}
	return lists, memory[1], streams[1]
}

// pingPongAfter returns the word of the second device after some rounds.
func pingPongAfter(rounds int) (v uint32) {
	v = 1
	for range rounds {
		v = 3*(3*v+1) + 2
	}
	return v
}

func peerLists(t *testing.T, a, b *bench) {
	lists, word, s := pingPong(t, a, b)
	for range 40 {
		require.NoError(t, a.SubmitCommands(lists[0], 0, 4))
		require.NoError(t, b.SubmitCommands(lists[1], 0, 4))
	}
	require.NoError(t, b.Synchronize(s))
	assert.Equal(t, words(1, constant(pingPongAfter(40))), b.read(word, 4))
}

// peerParts goes round the lists in parts that begin with the second command, so that the wait is the end of a part.
func peerParts(t *testing.T, a, b *bench) {
	lists, word, s := pingPong(t, a, b)
	require.NoError(t, a.SubmitCommands(lists[0], 1, 3))
	for range 9 {
		require.NoError(t, b.SubmitCommands(lists[1], 0, 3))
		require.NoError(t, b.SubmitCommands(lists[1], 3, 1))
		require.NoError(t, a.SubmitCommands(lists[0], 0, 2))
		require.NoError(t, a.SubmitCommands(lists[0], 2, 2))
	}
	require.NoError(t, b.SubmitCommands(lists[1], 0, 4))
	require.NoError(t, b.Synchronize(s))
	assert.Equal(t, words(1, constant(pingPongAfter(10))), b.read(word, 4))
}

func peerInvalid(t *testing.T, a, b *bench) {
	s, e := a.stream(), b.event()
	refused(t, a.EnablePeer(nil), "EnablePeer", device.InvalidValue)
	refused(t, a.EnablePeer(a.Device), "EnablePeer", device.NotSupported)
	refused(t, a.WaitPeer(s, nil, e), "WaitPeer", device.InvalidValue)
	refused(t, a.WaitPeer(s, b.Device, 0), "WaitPeer", device.InvalidHandle)
	refused(t, a.WaitPeer(s, b.Device, e+99), "WaitPeer", device.InvalidHandle)
	refused(t, a.WaitPeer(0, b.Device, e), "WaitPeer", device.InvalidHandle)
	for _, c := range []struct {
		command device.Command
		code    device.Code
	}{
		{device.Command{Kind: device.AwaitPeer, Stream: s, Event: e}, device.InvalidValue},
		{device.Command{Kind: device.AwaitPeer, Stream: s, Event: e + 99, Peer: b.Device}, device.InvalidHandle},
		{device.Command{Kind: device.AwaitPeer, Event: e, Peer: b.Device}, device.InvalidHandle},
		{device.Command{Kind: device.AwaitPeer + 1, Stream: s}, device.InvalidValue},
	} {
		_, err := a.CompileCommands([]device.Command{c.command})
		refused(t, err, "CompileCommands", c.code)
	}
	a.submit(s, device.Nothing{})
	assert.NoError(t, a.Synchronize(s))
}

func peerDestroyed(t *testing.T, a, b *bench) {
	s, e := a.stream(), b.event()
	gone, err := b.CreateEvent()
	require.NoError(t, err)
	l := a.compile(
		device.Command{Kind: device.AwaitPeer, Stream: s, Event: e, Peer: b.Device},
		device.Command{Kind: device.AwaitPeer, Stream: s, Event: gone, Peer: b.Device})
	require.NoError(t, a.SubmitCommands(l, 0, 2))
	require.NoError(t, b.DestroyEvent(gone))
	refused(t, a.WaitPeer(s, b.Device, gone), "WaitPeer", device.InvalidHandle)
	refused(t, a.SubmitCommands(l, 0, 2), "SubmitCommands", device.InvalidHandle)
	assert.NoError(t, a.Synchronize(s))
}

// peerClosed closes a device that has given its event, its memory and its access to another.
func peerClosed(t *testing.T, a, b *bench) {
	enable(t, a, b)
	s, own := a.stream(), a.buffer(words(n, index))
	u, err := b.CreateStream(0)
	require.NoError(t, err)
	e, err := b.CreateEvent()
	require.NoError(t, err)
	p, err := b.Alloc(4 * n)
	require.NoError(t, err)
	require.NoError(t, b.Submit(u, &device.Copy{Dst: p, Src: own, Bytes: 4 * n}))
	require.NoError(t, b.Record(e, u))
	l := a.compile(device.Command{Kind: device.AwaitPeer, Stream: s, Event: e, Peer: b.Device})
	require.NoError(t, a.SubmitCommands(l, 0, 1))
	a.submit(s, &device.Copy{Dst: own + 4, Src: p, Bytes: 8})
	require.NoError(t, a.Synchronize(s))

	b.closed = true
	require.NoError(t, b.Close())
	assert.Equal(t, words(4, func(i int) uint32 { return []uint32{0, 0, 1, 3}[i] }), a.read(own, 16))
	assert.False(t, a.CanPeer(b.Device))
	refused(t, a.EnablePeer(b.Device), "EnablePeer", device.Deinitialized)
	refused(t, a.WaitPeer(s, b.Device, e), "WaitPeer", device.Deinitialized)
	refused(t, a.SubmitCommands(l, 0, 1), "SubmitCommands", device.InvalidHandle)
	refused(t, a.Submit(s, &device.Copy{Dst: own, Src: p, Bytes: 4}), "Submit", device.InvalidValue)
	refused(t, b.EnablePeer(a.Device), "EnablePeer", device.Deinitialized)
	refused(t, b.WaitPeer(u, a.Device, a.event()), "WaitPeer", device.Deinitialized)
	f := a.function("affine")
	a.submit(s, affine(f, own, own, 0, 5, n))
	require.NoError(t, a.Synchronize(s))
	assert.Equal(t, words(n, constant(5)), a.read(own, 4*n))
}

// peerFault lets a kernel of one device fail in front of an event for which the other waits.
func peerFault(t *testing.T, a, b *bench) {
	s, u, e := a.stream(), b.stream(), b.event()
	p, q := a.buffer(words(n, index)), b.alloc(64)
	b.submit(u, &device.Launch{
		Function: b.function("stray"), Label: "astray",
		Grid: device.Dim3{X: 4, Y: 1, Z: 1}, Block: device.Dim3{X: 32, Y: 1, Z: 1},
		Params: params(q, uint64(1)<<40),
	})
	b.poisoned = true
	a.follow(s, b, u, e)
	a.submit(s, affine(a.function("affine"), p, p, 2, 0, n))
	require.NoError(t, a.Synchronize(s))
	assert.Equal(t, words(n, func(i int) uint32 { return 2 * uint32(i) }), a.read(p, 4*n))
	assert.Equal(t, device.IllegalAddress, device.CodeOf(b.Synchronize(u)))
	assert.Equal(t, device.IllegalAddress, device.CodeOf(b.WaitPeer(u, a.Device, a.event())))
	assert.Equal(t, device.IllegalAddress, device.CodeOf(b.EnablePeer(a.Device)))
	assert.NoError(t, a.WaitPeer(s, b.Device, e))
	assert.NoError(t, a.Synchronize(s))
}
