package variants_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/sentinel"
	"github.com/reprise-gpu/reprise/internal/variants"
)

// oracle is a cache as a list of keys, most recently used first.
type oracle struct {
	bounds variants.Bounds
	kept   []int
}

func size(key int) int64 { return int64(key) }

func (o *oracle) bytes() (sum int64) {
	for _, k := range o.kept {
		sum += size(k)
	}
	return sum
}

func (o *oracle) get(key int) (hit bool) {
	i := slices.Index(o.kept, key)
	if hit = i >= 0; hit {
		o.kept = slices.Delete(o.kept, i, i+1)
	}
	o.kept = slices.Insert(o.kept, 0, key)
	for len(o.kept) > o.bounds.Entries || o.bytes() > o.bounds.Bytes {
		o.kept = o.kept[:len(o.kept)-1]
	}
	return hit
}

// TestRandomCalls compares a cache with the oracle. Values are numbered; a value is freed once, after its last release and
// only when the cache does not keep it.
func TestRandomCalls(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 0))
		o := oracle{bounds: variants.Bounds{Entries: 1 + random.IntN(4), Bytes: int64(1 + random.IntN(20))}}
		made, users, keyOf, freed := 0, map[int]int{}, map[int]int{}, map[int]bool{}
		latest := map[int]int{} // by key: its latest value
		c := variants.New[int](o.bounds, func(v int) error {
			require.False(t, freed[v], "freed twice")
			require.Zero(t, users[v], "freed in use")
			freed[v] = true
			return nil
		})
		type hold struct {
			value   int
			release func() error
		}
		var held []hold
		evictions, hits, misses := 0, 0, 0
		for range 200 {
			if len(held) > 0 && random.IntN(2) == 0 {
				i := random.IntN(len(held))
				users[held[i].value]--
				require.NoError(t, held[i].release())
				require.NoError(t, held[i].release(), "a second release does nothing")
				held = slices.Delete(held, i, i+1)
			} else {
				key := 1 + random.IntN(8)
				before := len(o.kept)
				hit := o.get(key)
				if hit {
					hits++
				} else {
					misses++
					evictions += before + 1 - len(o.kept)
				}
				v, release, err := c.Get(context.Background(), key, func() (int, int64, error) {
					require.False(t, hit)
					made++
					keyOf[made], latest[key] = key, made
					return made, size(key), nil
				})
				require.NoError(t, err)
				require.Equal(t, latest[key], v)
				users[v]++
				held = append(held, hold{v, release})
			}
			var inUse int64
			for v := 1; v <= made; v++ {
				kept := slices.Contains(o.kept, keyOf[v]) && latest[keyOf[v]] == v
				require.Equal(t, !kept && users[v] == 0, freed[v], "seed %d: value %d", seed, v)
				if !kept && !freed[v] {
					inUse += size(keyOf[v])
				}
			}
			require.Equal(t, variants.Stats{Hits: hits, Misses: misses, Evictions: evictions, Entries: len(o.kept), Bytes: o.bytes(), Held: inUse}, c.Stats())
		}
		require.NoError(t, c.Close())
		for _, h := range held {
			users[h.value]--
			require.NoError(t, h.release())
		}
		assert.Len(t, freed, made)
		_, _, err := c.Get(context.Background(), 1, nil)
		require.ErrorIs(t, err, sentinel.ErrClosed)
	}
}

// Calls that arrive while a value is made get it, and a call whose context ends leaves without it.
func TestOneCallMakesTheValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made, freed atomic.Int32
		c := variants.New[string](variants.Bounds{Entries: 1}, func(int32) error { freed.Add(1); return nil })
		open := make(chan struct{})
		make := func() (int32, int64, error) { <-open; return made.Add(1), 1, nil }
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				v, release, err := c.Get(context.Background(), "a", make)
				assert.NoError(t, err)
				assert.Equal(t, int32(1), v)
				assert.NoError(t, release())
			})
		}
		synctest.Wait()
		wg.Go(func() {
			_, _, err := c.Get(ctx, "a", make)
			assert.ErrorIs(t, err, context.Canceled)
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(open)
		wg.Wait()
		assert.Equal(t, int32(1), made.Load())
		assert.Equal(t, variants.Stats{Hits: 5, Misses: 1, Entries: 1, Bytes: 1}, c.Stats())
		require.NoError(t, c.Close())
		assert.Equal(t, int32(1), freed.Load())
	})
}

func TestErrorsAndPanicsAreNotKept(t *testing.T) {
	c := variants.New[string](variants.Bounds{}, func(int) error { return nil })
	wrong := errors.New("wrong")
	_, _, err := c.Get(context.Background(), "a", func() (int, int64, error) { return 0, 0, wrong })
	require.ErrorIs(t, err, wrong)
	assert.PanicsWithValue(t, "mine", func() {
		_, _, _ = c.Get(context.Background(), "a", func() (int, int64, error) { panic("mine") })
	})
	v, _, err := c.Get(context.Background(), "a", func() (int, int64, error) { return 7, 1, nil })
	require.NoError(t, err)
	assert.Equal(t, 7, v)
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err = c.Get(canceled, "a", nil)
	assert.ErrorIs(t, err, context.Canceled)
}

// A value that does not fit takes the memory of values without users, the least recently used one first.
func TestMemoryIsTakenFromIdleValues(t *testing.T) {
	const capacity = 10
	var used int64
	make := func(n int64) func() (int64, int64, error) {
		return func() (int64, int64, error) {
			if used+n > capacity {
				return 0, 0, sentinel.ErrOutOfMemory
			}
			used += n
			return n, n, nil
		}
	}
	c := variants.New[string](variants.Bounds{}, func(n int64) error { used -= n; return nil })
	get := func(key string, n int64) (func() error, error) {
		_, release, err := c.Get(context.Background(), key, make(n))
		return release, err
	}
	held, err := get("held", 4)
	require.NoError(t, err)
	for _, key := range []string{"first", "second"} {
		release, err := get(key, 3)
		require.NoError(t, err)
		require.NoError(t, release())
	}
	release, err := get("third", 3)
	require.NoError(t, err)
	require.NoError(t, release())
	assert.Equal(t, variants.Stats{Misses: 4, Evictions: 1, Entries: 3, Bytes: 10}, c.Stats())
	_, err = get("large", 7)
	require.ErrorIs(t, err, sentinel.ErrOutOfMemory)
	assert.Equal(t, int64(4), used, "the value in use remains")
	require.NoError(t, c.Close())
	assert.Equal(t, int64(4), c.Stats().Held)
	require.NoError(t, held())
	assert.Zero(t, used)
}

func TestCloseReturnsTheErrorOfFreeing(t *testing.T) {
	wrong := errors.New("wrong")
	c := variants.New[int](variants.Bounds{Entries: 1}, func(int) error { return wrong })
	for key := range 2 {
		_, release, err := c.Get(context.Background(), key, func() (int, int64, error) { return key, 1, nil })
		require.NoError(t, err)
		require.NoError(t, release())
	}
	require.ErrorIs(t, c.Close(), wrong)
	require.NoError(t, c.Close())
}
