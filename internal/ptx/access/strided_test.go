package access

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// elements returns the integers of a set.
func (a strided) elements() map[int64]bool {
	set := map[int64]bool{}
	if a.isEmpty() {
		return set
	}
	var room [maxLevels]level
	at := []int64{a.lo}
	for _, l := range a.list(room[:0]) {
		for _, x := range at {
			for i := int64(1); i < l.n; i++ {
				at = append(at, x+i*l.step)
			}
		}
	}
	for _, x := range at {
		set[x] = true
	}
	return set
}

// randomStrided returns a set of few small numbers.
func randomStrided(r *rand.Rand) strided {
	lo := r.Int64N(41) - 20
	var list []level
	for range r.IntN(4) {
		list = append(list, level{1 + r.Int64N(20), 1 + r.Int64N(4)})
	}
	return fromLevels(lo, list)
}

// valid checks the invariant of strided.
func (a strided) valid(t *testing.T) {
	if a.used == 0 {
		return
	}
	list := a.levels[:a.used]
	require.Equal(t, a.hi-a.lo, extentOf(list), "%+v", a)
	for k, l := range list {
		require.Greater(t, l.n, int64(1), "%+v", a)
		require.Greater(t, l.step, extentOf(list[:k]), "%+v", a)
	}
	require.False(t, a.used == 1 && list[0].step == 1, "%+v", a)
	require.Len(t, a.elements(), int(a.count()), "%+v", a)
}

// TestStridedOperationsAreSound compares operations with those on each element.
func TestStridedOperationsAreSound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	exact := map[string]int{}
	const runs = 4000
	for range runs {
		a, b := randomStrided(r), randomStrided(r)
		c := r.Int64N(41) - 20
		cut := interval{a.lo + r.Int64N(a.hi-a.lo+1), a.hi}
		cut.hi = cut.lo + r.Int64N(a.hi-cut.lo+1)
		for _, op := range []struct {
			name string
			got  strided
			want func(x int64, yield func(int64))
		}{
			{"add", a.add(b), func(x int64, yield func(int64)) {
				for y := range b.elements() {
					yield(x + y)
				}
			}},
			{"sub", a.sub(b), func(x int64, yield func(int64)) {
				for y := range b.elements() {
					yield(x - y)
				}
			}},
			{"mul", a.mul(gapless(point(c))), func(x int64, yield func(int64)) { yield(x * c) }},
			{"extend", a.extend(5, c > 0), func(x int64, yield func(int64)) { yield(point(x).extend(5, c > 0).lo) }},
			{"within", a.within(cut), func(x int64, yield func(int64)) {
				if cut.lo <= x && x <= cut.hi {
					yield(x)
				}
			}},
		} {
			want := map[int64]bool{}
			for x := range a.elements() {
				op.want(x, func(y int64) { want[y] = true })
			}
			checkSuperset(t, op.name, a, b, op.got, want)
			if len(op.got.elements()) == len(want) {
				exact[op.name]++
			}
		}
		want := a.elements()
		for y := range b.elements() {
			want[y] = true
		}
		checkSuperset(t, "union", a, b, a.union(b), want)
	}
	t.Log(exact)
	for _, name := range []string{"add", "mul", "within"} {
		require.Greater(t, exact[name], runs/4, name)
	}
}

func checkSuperset(t *testing.T, name string, a, b, got strided, want map[int64]bool) {
	t.Helper()
	got.valid(t)
	set := got.elements()
	for x := range want {
		require.True(t, set[x], "%s of %+v and %+v is %+v, without %d", name, a, b, got, x)
	}
}

// TestStridedBox compares boxes with the sets that they are made of.
func TestStridedBox(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	strides := 0
	for range 20000 {
		a := randomStrided(r)
		b := a.box(Span{a.lo, a.hi + 1})
		if b.Empty() {
			continue
		}
		strides++
		require.True(t, b.Valid(), "%+v is %+v", a, b)
		require.Less(t, b.Bytes(), a.hi+1-a.lo)
		set := map[int64]bool{}
		b.Runs(func(lo, hi int64) bool {
			for ; lo < hi; lo++ {
				set[lo] = true
			}
			return true
		})
		for x := range a.elements() {
			require.True(t, set[x], "%+v is %+v, without %d", a, b, x)
		}
	}
	require.Greater(t, strides, 4000)
}

// TestStridedUnion shows what unions keep.
func TestStridedUnion(t *testing.T) {
	tile := fromLevels(0, []level{{1, 8}, {100, 10}})
	below := tile.add(gapless(point(100)))
	right := tile.add(gapless(point(1)))
	left := tile.add(gapless(point(-1)))
	require.Equal(t, fromLevels(0, []level{{1, 8}, {100, 11}}), tile.union(below))
	require.Equal(t, fromLevels(-1, []level{{1, 10}, {100, 11}}), tile.union(below).union(right).union(left))
	require.Equal(t, fromLevels(-1, []level{{1, 10}, {100, 11}}), below.union(left).union(right))
	row := gapless(interval{300, 307})
	require.Equal(t, tile, tile.union(row), "a row of the tile")
	far := tile.add(gapless(point(1 << 40)))
	require.Equal(t, fromLevels(0, []level{{1, 8}, {100, 10}, {1 << 40, 2}}), tile.union(far))
}
