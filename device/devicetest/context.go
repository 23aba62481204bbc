package devicetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

var contextBehaviours = []behaviour{
	{"context/a wait that is given up loses no work", givenUp},
	{"context/a wait for nothing ends well", nothingToWaitFor},
	{"context/a wait without a deadline is a wait", endlessContext},
	{"context/a device closes after a wait that was given up", closedAfterGivingUp},
}

// blocked submits a host call that blocks until release is called, followed by more work.
func blocked(b *bench) (s device.Stream, dst device.Ptr, release func()) {
	s, f := b.stream(), b.function("affine")
	src := b.buffer(words(n, index))
	dst = b.buffer(words(n, constant(7)))
	gate := make(chan struct{})
	b.submit(s, &device.HostCall{Func: func() error { <-gate; return nil }}, affine(f, dst, src, 3, 5, n))
	return s, dst, func() { close(gate) }
}

// giveUp waits for a blocked stream with a deadline.
func giveUp(t *testing.T, b *bench, s device.Stream) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	assert.ErrorIs(t, b.SynchronizeContext(ctx, s), context.DeadlineExceeded)
	assert.Less(t, time.Since(start), 10*time.Second)
}

func givenUp(t *testing.T, b *bench) {
	s, dst, release := blocked(b)
	giveUp(t, b, s)
	giveUp(t, b, s)
	release()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	require.NoError(t, b.SynchronizeContext(ctx, s))
	assert.Equal(t, words(n, func(i int) uint32 { return 3*uint32(i) + 5 }), b.read(dst, 4*n))
}

func nothingToWaitFor(t *testing.T, b *bench) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	assert.NoError(t, b.SynchronizeContext(ctx, b.stream()))
	assert.Error(t, b.SynchronizeContext(ctx, 0))
}

func endlessContext(t *testing.T, b *bench) {
	s, dst, release := blocked(b)
	time.AfterFunc(time.Millisecond, release)
	require.NoError(t, b.SynchronizeContext(context.Background(), s))
	assert.Equal(t, words(1, constant(5)), b.read(dst, 4))
}

func closedAfterGivingUp(t *testing.T, b *bench) {
	s, _, release := blocked(b)
	giveUp(t, b, s)
	release()
	b.closed, b.poisoned = true, true // so that clear does not free allocations one by one
	assert.NoError(t, b.Close())
}
