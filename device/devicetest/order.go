package devicetest

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

var launchBehaviours = []behaviour{
	{"launch/kernel computes", kernelComputes},
	{"launch/static and dynamic shared memory", sharedMemory},
	{"launch/parameters are copied", paramsCopied},
}

var orderBehaviours = []behaviour{
	{"order/stream is a FIFO", streamOrder},
	{"order/chain over three streams", eventChain},
	{"order/join of two streams", eventJoin},
	{"order/wait takes the last record before it", lastRecord},
	{"order/wait for an event never recorded", waitUnrecorded},
	{"order/host calls run in stream order", hostCalls},
	{"order/host call sees a copy out", hostSeesCopy},
	{"order/host calls fail and panic once", hostCallsFail},
	{"order/priorities are clamped", priorities},
	{"order/writes wait for work", writesWait},
	{"order/elapsed adds up", elapsed},
	{"order/clock never goes back", clock},
}

const n = 1000 // words of a test buffer: not a multiple of the block size

func kernelComputes(t *testing.T, b *bench) {
	s, f := b.stream(), b.function("affine")
	src, dst := b.buffer(words(n, index)), b.buffer(words(n+1, constant(7)))
	b.submit(s, affine(f, dst, src, 3, 5, n))
	require.NoError(t, b.Synchronize(s))
	got := b.read(dst, 4*n+4)
	assert.Equal(t, words(n, func(i int) uint32 { return 3*uint32(i) + 5 }), got[:4*n])
	assert.Equal(t, words(1, constant(7)), got[4*n:], "the guard kept the word after the end")
}

// writesWait overwrites the source of a launch that is still enqueued.
func writesWait(t *testing.T, b *bench) {
	const many = 1 << 20
	s, f := b.stream(), b.function("affine")
	busy := b.buffer(words(many, constant(0)))
	src, dst := b.buffer(words(1, constant(3))), b.alloc(4)
	b.submit(s, affine(f, busy, busy, 1, 1, many), affine(f, dst, src, 1, 0, 1))
	require.NoError(t, b.Write(src, words(1, constant(4))))
	assert.Equal(t, words(1, constant(3)), b.read(dst, 4))
	assert.Equal(t, words(1, constant(4)), b.read(src, 4))
}

func sharedMemory(t *testing.T, b *bench) {
	s, f := b.stream(), b.function("blocksum")
	src, dst := b.buffer(words(4*96, index)), b.alloc(4*4)
	b.submit(s, &device.Launch{
		Function: f, Grid: device.Dim3{X: 4, Y: 1, Z: 1}, Block: device.Dim3{X: 96, Y: 1, Z: 1},
		Shared: 96 * 4, Params: params(dst, src),
	})
	require.NoError(t, b.Synchronize(s))
	want := words(4, func(i int) uint32 { return 96*95/2 + uint32(i)*96*96 })
	assert.Equal(t, want, b.read(dst, 16))
}

func paramsCopied(t *testing.T, b *bench) {
	s, f := b.stream(), b.function("affine")
	src, dst := b.buffer(words(n, index)), b.alloc(4*n)
	l := affine(f, dst, src, 2, 0, n)
	b.submit(s, l)
	clear(l.Params)
	require.NoError(t, b.Synchronize(s))
	assert.Equal(t, words(n, func(i int) uint32 { return 2 * uint32(i) }), b.read(dst, 4*n))
}

func streamOrder(t *testing.T, b *bench) {
	s, f := b.stream(), b.function("affine")
	p := b.buffer(words(n, constant(1)))
	want := uint32(1)
	for i := range uint32(20) {
		b.submit(s, affine(f, p, p, 3, i, n))
		want = 3*want + i
	}
	require.NoError(t, b.Synchronize(s))
	assert.Equal(t, words(n, constant(want)), b.read(p, 4*n))
}

func eventChain(t *testing.T, b *bench) {
	f := b.function("affine")
	streams := []device.Stream{b.stream(), b.stream(), b.stream()}
	p := b.buffer(words(n, constant(1)))
	want := uint32(1)
	for i := range 30 {
		s := streams[i%3]
		if i > 0 {
			e := b.event()
			require.NoError(t, b.Record(e, streams[(i-1)%3]))
			require.NoError(t, b.Wait(s, e))
		}
		b.submit(s, affine(f, p, p, 3, uint32(i), n))
		want = 3*want + uint32(i)
	}
	require.NoError(t, b.SynchronizeAll())
	assert.Equal(t, words(n, constant(want)), b.read(p, 4*n))
}

func eventJoin(t *testing.T, b *bench) {
	m := b.module()
	f, err := b.Function(m, "affine")
	require.NoError(t, err)
	add, err := b.Function(m, "add")
	require.NoError(t, err)
	s1, s2, e := b.stream(), b.stream(), b.event()
	x, y, z := b.buffer(words(n, index)), b.alloc(4*n), b.alloc(4*n)
	for round := range uint32(5) {
		b.submit(s1, affine(f, y, x, 2, round, n))
		b.submit(s2, affine(f, z, x, 5, 1, n))
		require.NoError(t, b.Record(e, s2))
		require.NoError(t, b.Wait(s1, e))
		l := affine(add, 0, 0, 0, 0, n)
		l.Params = params(y, y, z, uint32(n))
		b.submit(s1, l)
		require.NoError(t, b.Synchronize(s1), "waits for what it waits for")
		want := func(i int) uint32 { return 7*uint32(i) + round + 1 }
		require.Equal(t, words(n, want), b.read(y, 4*n))
	}
}

// A wait refers to the latest record before it in program order, not to a later one.
func lastRecord(t *testing.T, b *bench) {
	s1, s2, e := b.stream(), b.stream(), b.event()
	f := b.function("affine")
	x, y := b.buffer(words(n, constant(1))), b.alloc(4*n)
	b.submit(s1, affine(f, x, x, 1, 1, n))
	require.NoError(t, b.Record(e, s1))
	require.NoError(t, b.Wait(s2, e))
	b.submit(s2, affine(f, y, x, 1, 0, n))
	e2 := b.event()
	require.NoError(t, b.Record(e2, s2))
	require.NoError(t, b.Wait(s1, e2)) // s1 must not overwrite x before s2 has read it
	require.NoError(t, b.Record(e, s1))
	b.submit(s1, affine(f, x, x, 1, 100, n))
	require.NoError(t, b.SynchronizeAll())
	assert.Equal(t, words(n, constant(2)), b.read(y, 4*n))
	assert.Equal(t, words(n, constant(102)), b.read(x, 4*n))
}

func waitUnrecorded(t *testing.T, b *bench) {
	s, e := b.stream(), b.event()
	require.NoError(t, b.Wait(s, e))
	b.submit(s, device.Nothing{})
	assert.NoError(t, b.Synchronize(s))
}

func hostCalls(t *testing.T, b *bench) {
	s := b.stream()
	var got []int
	for i := range 5 {
		b.submit(s, &device.HostCall{Label: "append", Func: func() error { got = append(got, i); return nil }})
	}
	require.NoError(t, b.Synchronize(s))
	assert.Equal(t, []int{0, 1, 2, 3, 4}, got)
}

// hostCallsFail runs failing host calls in a stream, a command list and a graph. Later work runs, and the device
// stays usable.
func hostCallsFail(t *testing.T, b *bench) {
	s := b.stream()
	cause := errors.New("no answer")
	ran, fail := 0, func() error { return nil }
	bad := &device.HostCall{Label: "bad", Func: func() error { return fail() }}
	after := &device.HostCall{Label: "after", Func: func() error { ran++; return nil }}
	g := b.graph()
	b.node(g, after, b.node(g, bad))
	x := b.instantiate(g)
	list := b.compile(device.Command{Stream: s, Work: bad}, device.Command{Stream: s, Work: after})
	for name, enqueue := range map[string]func() error{
		"stream": func() error { b.submit(s, bad, after); return nil },
		"list":   func() error { return b.SubmitCommands(list, 0, 2) },
		"graph":  func() error { return b.LaunchGraph(x, s) },
	} {
		for _, panics := range []any{nil, "boom", cause, 17} {
			fail = func() error {
				if panics != nil {
					panic(panics)
				}
				return cause
			}
			before := ran
			require.NoError(t, enqueue(), name)
			err := b.Synchronize(s)
			var failed *device.HostError
			require.ErrorAs(t, err, &failed, "%s: %v", name, panics)
			assert.Equal(t, device.Unknown, device.CodeOf(err), name)
			assert.Equal(t, "bad", failed.Label, name)
			assert.Equal(t, panics, failed.Panic, name)
			assert.Equal(t, panics != nil, len(failed.Stack) > 0, name)
			assert.Equal(t, panics == nil || panics == any(cause), errors.Is(err, cause), name)
			assert.Equal(t, before+1, ran, "%s: what is behind it runs", name)
			assert.NoError(t, b.Synchronize(s), "%s: it is reported once", name)
		}
	}
	fail = func() error { runtime.Goexit(); return nil }
	b.submit(s, bad, after)
	var failed *device.HostError
	require.ErrorAs(t, b.Synchronize(s), &failed, "as the FailNow of a test ends a goroutine")
	assert.ErrorContains(t, failed, "Goexit")
	p := b.buffer(words(4, index))
	assert.Equal(t, words(4, index), b.read(p, 16))
}

func hostSeesCopy(t *testing.T, b *bench) {
	s, f := b.stream(), b.function("affine")
	p := b.buffer(words(n, index))
	h, host := b.allocHost(4 * n)
	var first []byte
	b.submit(s,
		affine(f, p, p, 2, 1, n),
		&device.Copy{Dst: h, Src: p, Bytes: 4 * n},
		&device.HostCall{Func: func() error { first = append(first, host[4:8]...); return nil }},
		&device.Memset{Dst: p, Width: 4, Count: n},
		&device.Copy{Dst: h, Src: p, Bytes: 4 * n})
	require.NoError(t, b.Synchronize(s))
	assert.Equal(t, words(1, constant(3)), first)
	assert.Equal(t, make([]byte, 4*n), host)
}

func priorities(t *testing.T, b *bench) {
	f, x := b.function("affine"), b.buffer(words(n, index))
	for _, p := range []int{-1000, -1, 0, 1, 1000} {
		s, err := b.CreateStream(p)
		require.NoError(t, err, "priority %d", p)
		l := affine(f, x, x, 1, 0, n)
		l.Priority = -p
		b.submit(s, l)
		g := b.graph()
		b.node(g, l)
		require.NoError(t, b.LaunchGraph(b.instantiate(g), s), "priority %d", p)
		require.NoError(t, b.Synchronize(s))
		require.NoError(t, b.DestroyStream(s))
	}
	assert.LessOrEqual(t, b.Info().GreatestPriority, b.Info().LeastPriority)
}

func elapsed(t *testing.T, b *bench) {
	s, f := b.stream(), b.function("affine")
	p := b.buffer(words(n, index))
	e := []device.Event{b.event(), b.event(), b.event()}
	for i := range e {
		b.submit(s, affine(f, p, p, 3, 1, n))
		require.NoError(t, b.Record(e[i], s))
	}
	require.NoError(t, b.Synchronize(s))
	span := func(i, j int) time.Duration {
		d, err := b.Elapsed(e[i], e[j])
		require.NoError(t, err)
		return d
	}
	assert.GreaterOrEqual(t, span(0, 1), time.Duration(0))
	assert.GreaterOrEqual(t, span(1, 2), time.Duration(0))
	assert.InDelta(t, span(0, 2), span(0, 1)+span(1, 2), float64(2*time.Microsecond), "the driver's resolution is 0.5 us")
	_, err := b.Elapsed(e[0], b.event())
	refused(t, err, "Elapsed", device.InvalidHandle)
}

func clock(t *testing.T, b *bench) {
	s := b.stream()
	last := b.Now()
	for range 10 {
		b.submit(s, device.Nothing{})
		require.NoError(t, b.Synchronize(s))
		now := b.Now()
		require.GreaterOrEqual(t, now, last)
		last = now
	}
}
