package devicetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

var managedBehaviours = []behaviour{
	{"managed/kernels and the host share it", managedShared},
	{"managed/prefetches are ordered with their stream", managedPrefetched},
	{"managed/prefetches in a command list", managedCommands},
	{"managed/copies and memsets reach it", managedCopies},
	{"managed/zero bytes", managedNothing},
	{"managed/a graph has no prefetches", managedNode},
	{"managed/bad ones are refused", managedErrors},
}

// manager returns the device as a Manager.
func (b *bench) manager() device.Manager {
	b.t.Helper()
	m, ok := b.Device.(device.Manager)
	require.True(b.t, ok, "the device has no managed memory; list this as unsupported")
	return m
}

func (b *bench) allocManaged(bytes int64) (device.Ptr, []byte) {
	b.t.Helper()
	p, host, err := b.manager().AllocManaged(bytes)
	require.NoError(b.t, err)
	require.Len(b.t, host, int(bytes))
	b.later(func() error { return b.Free(p) })
	return p, host
}

// prefetches returns prefetches in all variants: to the device, to the host, and of parts.
func prefetches(p device.Ptr, bytes int64) []device.Work {
	return []device.Work{
		&device.Prefetch{At: p, Bytes: bytes, ToDevice: true, Label: "there"},
		&device.Prefetch{At: p, Bytes: bytes, ToDevice: true},
		&device.Prefetch{At: p, Bytes: bytes},
		&device.Prefetch{At: p + 4, Bytes: bytes - 5, ToDevice: true},
		&device.Prefetch{At: p + device.Ptr(bytes) - 1, Bytes: 1},
	}
}

// The host writes, a kernel reads that and writes, and the host reads the result, several times.
func managedShared(t *testing.T, b *bench) {
	in, inBytes := b.allocManaged(4 * n)
	out, outBytes := b.allocManaged(4 * n)
	f, s := b.function("affine"), b.stream()
	for round := range 4 {
		copy(inBytes, words(n, func(i int) uint32 { return uint32(i + round) }))
		b.submit(s, affine(f, out, in, 3, 1, n))
		require.NoError(t, b.manager().ToHost(out, 4*n), "it waits for the kernel")
		assert.Equal(t, words(n, func(i int) uint32 { return uint32(3*(i+round) + 1) }), outBytes)
		require.NoError(t, b.manager().ToHost(in, 4*n))
	}
}

// The results do not depend on where the memory is.
func managedPrefetched(t *testing.T, b *bench) {
	p, host := b.allocManaged(4 * n)
	f, s := b.function("affine"), b.stream()
	copy(host, words(n, func(i int) uint32 { return uint32(i) }))
	rounds := 0
	for _, w := range prefetches(p, 4*n) {
		b.submit(s, w, affine(f, p, p, 1, 7, n))
		rounds++
	}
	require.NoError(t, b.manager().ToHost(p, 4*n))
	assert.Equal(t, words(n, func(i int) uint32 { return uint32(i + 7*rounds) }), host)
}

func managedCommands(t *testing.T, b *bench) {
	p, host := b.allocManaged(4 * n)
	q, other := b.allocManaged(4 * n)
	copy(host, words(n, func(i int) uint32 { return uint32(i) }))
	copy(other, words(n, func(int) uint32 { return 9 }))
	f, s, u, e := b.function("affine"), b.stream(), b.stream(), b.event()
	l := b.compile(
		device.Command{Kind: device.Run, Stream: s, Work: &device.Prefetch{At: p, Bytes: 4 * n, ToDevice: true}},
		device.Command{Kind: device.Record, Stream: s, Event: e},
		device.Command{Kind: device.Await, Stream: u, Event: e},
		device.Command{Kind: device.Run, Stream: u, Work: affine(f, p, p, 1, 1, n)},
		device.Command{Kind: device.Run, Stream: u, Work: &device.Prefetch{At: p, Bytes: 4 * n}},
	)
	require.NoError(t, b.SubmitCommands(l, 0, 5))
	require.NoError(t, b.Synchronize(u))
	assert.Equal(t, words(n, func(i int) uint32 { return uint32(i + 1) }), host)
	require.NoError(t, b.UpdateCommand(l, 0, &device.Prefetch{At: q, Bytes: 4 * n, ToDevice: true}))
	refused(t, b.UpdateCommand(l, 0, device.Nothing{}), "UpdateCommand", device.GraphUpdateForbidden)
	require.NoError(t, b.SubmitCommands(l, 0, 5))
	require.NoError(t, b.manager().ToHost(q, 4*n))
	assert.Equal(t, words(n, func(int) uint32 { return 9 }), other)
	require.NoError(t, b.manager().ToHost(p, 4*n))
	assert.Equal(t, words(n, func(i int) uint32 { return uint32(i + 2) }), host)
}

func managedCopies(t *testing.T, b *bench) {
	p, host := b.allocManaged(1001)
	q, s := b.alloc(1001), b.stream()
	require.NoError(t, b.Write(p, pattern(1001)))
	assert.Equal(t, pattern(1001), b.read(p, 1001))
	for _, w := range prefetches(p, 1001) {
		b.submit(s, &device.Memset{Dst: q, Width: 1, Count: 1001}, w, &device.Copy{Dst: q, Src: p, Bytes: 1001},
			&device.Memset{Dst: p, Width: 1, Count: 1001}, &device.Copy{Dst: p, Src: q, Bytes: 1001})
		require.NoError(t, b.manager().ToHost(p, 1001))
		assert.Equal(t, pattern(1001), host)
	}
}

func managedNothing(t *testing.T, b *bench) {
	p, _ := b.allocManaged(0)
	q, _ := b.allocManaged(0)
	assert.NotZero(t, p)
	assert.NotEqual(t, p, q)
	assert.NoError(t, b.manager().ToHost(p, 0))
	assert.NoError(t, b.Write(p, nil))
}

func managedNode(t *testing.T, b *bench) {
	p, _ := b.allocManaged(64)
	g := b.graph()
	_, err := b.AddNode(g, nil, &device.Prefetch{At: p, Bytes: 64, ToDevice: true})
	refused(t, err, "AddNode", device.NotSupported)
	nothing := b.node(g, device.Nothing{})
	x := b.instantiate(g)
	refused(t, b.UpdateNode(x, nothing, &device.Prefetch{At: p, Bytes: 64}), "UpdateNode", device.GraphUpdateForbidden)
	s := b.stream()
	require.NoError(t, b.LaunchGraph(x, s))
	assert.NoError(t, b.Synchronize(s))
}

func managedErrors(t *testing.T, b *bench) {
	p, _ := b.allocManaged(64)
	q, s := b.alloc(64), b.stream()
	h, _ := b.allocHost(64)
	for what, w := range map[string]*device.Prefetch{
		"of no bytes": {At: p}, "of a negative number": {At: p, Bytes: -1}, "past the end": {At: p, Bytes: 65},
		"before the start": {At: p - 1, Bytes: 2}, "of nothing": {Bytes: 64},
		"of device memory": {At: q, Bytes: 64}, "of pinned memory": {At: h, Bytes: 64},
	} {
		err := b.Submit(s, w)
		refused(t, err, "Submit", device.InvalidValue)
		assert.Error(t, err, what)
	}
	refused(t, b.manager().ToHost(q, 64), "ToHost", device.InvalidValue)
	refused(t, b.manager().ToHost(p, 65), "ToHost", device.InvalidValue)
	refused(t, b.manager().ToHost(p, -1), "ToHost", device.InvalidValue)
	_, _, err := b.manager().AllocManaged(-1)
	refused(t, err, "AllocManaged", device.InvalidValue)
	_, _, err = b.manager().AllocManaged(1 << 60)
	refused(t, err, "AllocManaged", device.OutOfMemory)
	free, _, err := b.manager().AllocManaged(64)
	require.NoError(t, err)
	require.NoError(t, b.Free(free))
	refused(t, b.Submit(s, &device.Prefetch{At: free, Bytes: 64}), "Submit", device.InvalidValue)
	refused(t, b.Free(free), "Free", device.InvalidValue)
	assert.NoError(t, b.Synchronize(s), "the device goes on")
}
