package des

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
)

func cacheOf(bytes int64) *Cache { return NewCache(&model.Profile{L2Bytes: bytes}) }

func use(buffer uint64, size, read, written float64) Use { return Use{buffer, size, read, written} }

// A chain of tasks on a cache of 100 bytes, by hand.
func TestCacheKeepsWhatWasUsedLast(t *testing.T) {
	c := cacheOf(100)
	for i, step := range []struct {
		uses             []Use
		fetched, evicted float64
		why              string
	}{
		{[]Use{use(1, 40, 40, 0)}, 40, 0, "cold"},
		{[]Use{use(1, 40, 40, 0)}, 0, 0, "still there"},
		{[]Use{use(1, 40, 20, 0), use(2, 40, 0, 40)}, 0, 0, "results stay"},
		{[]Use{use(2, 40, 40, 0)}, 0, 0, "and are read from L2"},
		{[]Use{use(3, 40, 40, 0)}, 40, 0, "buffer 1 makes room, which is clean"},
		{[]Use{use(1, 40, 40, 0)}, 40 * (1 - 0.5), 20, "half of it was left; room is made by what buffer 2 holds"},
		{[]Use{use(4, 300, 300, 0)}, 300, 20, "a stream, and the rest of buffer 2 is written back"},
		{[]Use{use(4, 300, 300, 0)}, 300, 0, "of which nothing helps when it is read again"},
		{[]Use{use(5, 300, 0, 300)}, 0, 200, "a stream of results, but for what stays"},
	} {
		fetched, evicted := c.Touch(step.uses)
		assert.InDelta(t, step.fetched, fetched, 1e-9, "step %d: %s", i, step.why)
		assert.InDelta(t, step.evicted, evicted, 1e-9, "step %d: %s", i, step.why)
	}
	c.Forget(5)
	fetched, evicted := c.Touch([]Use{use(6, 100, 100, 0)})
	assert.Equal(t, []float64{100, 0}, []float64{fetched, evicted}, "freed bytes are not written back")
}

// Over any chain of tasks: no more is fetched than read, and no more written back
// than written; with more cache, no less is found in it.
func TestCacheConservesBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for range 500 {
		small, large := cacheOf(int64(r.IntN(1000))), cacheOf(1<<40)
		var wrote, back float64
		seen := map[uint64]bool{}
		for range 30 {
			var uses []Use
			var read, cold float64
			for range 1 + r.IntN(4) {
				id := uint64(r.IntN(8))
				size := float64(50 * (1 + id))
				u := use(id, size, float64(r.IntN(2))*size, float64(r.IntN(2))*size)
				read, wrote = read+u.Read, wrote+u.Written
				if !seen[id] {
					cold += u.Read
				}
				seen[id] = seen[id] || u.Read+u.Written > 0
				uses = append(uses, u)
			}
			fetched, evicted := small.Touch(uses)
			require.GreaterOrEqual(t, fetched, 0.0)
			require.LessOrEqual(t, fetched, read+1e-9)
			back += evicted
			require.LessOrEqual(t, back, wrote+1e-6)
			never, none := large.Touch(uses)
			require.LessOrEqual(t, never, cold+1e-9)
			require.Zero(t, none)
			require.LessOrEqual(t, small.held, small.size+1e-6)
		}
	}
}
