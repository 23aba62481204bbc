package reprise_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise"
	"github.com/reprise-gpu/reprise/device"
)

// doubling records x += x on n elements.
func doubling(t *reprise.Tracer, n int) (reprise.Buffer, error) {
	x := t.Alloc("x", reprise.F32, int64(n), reprise.InOut)
	t.Launch(t.Module("axpy.ptx", axpy).Kernel("axpy"), reprise.Linear(uint32(n+31)/32, 32), x, x, float32(1), n)
	ones := make([]float32, n)
	for i := range ones {
		ones[i] = 1
	}
	return x, reprise.Write(x, ones)
}

// A program for inputs of many lengths compiles each length once.
func ExampleCache() {
	ctx := context.Background()
	dev, err := reprise.Open("sim")
	check(err)
	defer dev.Close()
	cache, err := reprise.NewCache[int, reprise.Buffer](dev, reprise.CacheOptions{Entries: 2})
	check(err)
	defer cache.Close()

	for _, length := range []int{100, 200, 100, 300, 100, 200} {
		v, err := cache.Get(ctx, length, doubling)
		check(err)
		check(v.Exec.Replay(ctx))
		result := make([]float32, length)
		check(reprise.Read(result, v.Buffers))
		fmt.Println(length, result[length-1])
		check(v.Release())
	}
	s := cache.Stats()
	fmt.Printf("%d hits, %d misses, %d evictions, %d variants kept\n", s.Hits, s.Misses, s.Evictions, s.Entries)
	// Output:
	// 100 2
	// 200 2
	// 100 4
	// 300 2
	// 100 8
	// 200 2
	// 2 hits, 4 misses, 2 evictions, 2 variants kept
}

// An evicted variant replays until it is released.
func TestAnEvictedVariantStaysValid(t *testing.T) {
	dev, err := reprise.OpenChecked("sim")
	require.NoError(t, err)
	cache, err := reprise.NewCache[int, reprise.Buffer](dev, reprise.CacheOptions{Bytes: 512})
	require.NoError(t, err)
	first, err := cache.Get(context.Background(), 100, doubling)
	require.NoError(t, err)
	second, err := cache.Get(context.Background(), 64, doubling)
	require.NoError(t, err)
	assert.Equal(t, reprise.CacheStats{Misses: 2, Evictions: 1, Entries: 1, Bytes: 256, Held: 512}, cache.Stats())
	for _, v := range []*reprise.Variant[reprise.Buffer]{first, second} {
		require.NoError(t, v.Exec.Replay(context.Background()))
		require.NoError(t, v.Exec.Wait(context.Background()))
		require.NoError(t, v.Release())
	}
	require.ErrorIs(t, first.Exec.Replay(context.Background()), reprise.ErrClosed)
	require.NoError(t, second.Exec.Replay(context.Background()), "the cache keeps it")
	require.NoError(t, cache.Close())
	_, err = cache.Get(context.Background(), 64, doubling)
	require.ErrorIs(t, err, reprise.ErrClosed)
	assert.Equal(t, device.Live{}, dev.(device.Accounter).Live())
	require.NoError(t, dev.Close())
}

// Goroutines share a device by the lock of the cache.
func TestConcurrentCalls(t *testing.T) {
	dev, err := reprise.Open("sim")
	require.NoError(t, err)
	var lock sync.Mutex
	cache, err := reprise.NewCache[int, reprise.Buffer](dev, reprise.CacheOptions{Entries: 3, Lock: &lock})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				n := 32 * (1 + (i+j)%5)
				v, err := cache.Get(context.Background(), n, doubling)
				if !assert.NoError(t, err) {
					return
				}
				lock.Lock()
				assert.NoError(t, v.Exec.Replay(context.Background()))
				assert.NoError(t, v.Exec.Wait(context.Background()))
				lock.Unlock()
				assert.NoError(t, v.Release())
			}
		})
	}
	wg.Wait()
	s := cache.Stats()
	assert.Equal(t, 160, s.Hits+s.Misses)
	assert.Zero(t, s.Held)
	require.NoError(t, cache.Close())
	require.NoError(t, dev.Close())
}

// A recording that fails or panics leaves no memory behind.
func TestAFailedRecordingIsFreed(t *testing.T) {
	dev, err := reprise.Open("sim")
	require.NoError(t, err)
	cache, err := reprise.NewCache[int, reprise.Buffer](dev, reprise.CacheOptions{})
	require.NoError(t, err)
	wrong := errors.New("wrong")
	_, err = cache.Get(context.Background(), 1, func(tr *reprise.Tracer, n int) (reprise.Buffer, error) {
		_, _ = doubling(tr, n)
		return reprise.Buffer{}, wrong
	})
	require.ErrorIs(t, err, wrong)
	assert.Panics(t, func() {
		_, _ = cache.Get(context.Background(), 1, func(tr *reprise.Tracer, n int) (reprise.Buffer, error) {
			_, _ = doubling(tr, n)
			panic(wrong)
		})
	})
	_, err = cache.Get(context.Background(), 1<<44, func(tr *reprise.Tracer, n int) (reprise.Buffer, error) {
		return tr.Alloc("x", reprise.F32, int64(n), reprise.InOut), nil
	})
	require.ErrorIs(t, err, reprise.ErrOutOfMemory)
	_, err = cache.Get(context.Background(), 1, nil)
	require.ErrorIs(t, err, reprise.ErrMissing)
	require.NoError(t, cache.Close())
	assert.Equal(t, device.Live{}, dev.(device.Accounter).Live())
	require.NoError(t, dev.Close())
}
