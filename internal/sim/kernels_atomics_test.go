package sim_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// atomicWords is the struct Words of atomics.cu.
type atomicWords struct {
	Add, Sub, Min, Max, And, Or, Xor, Exch, CASMax int32
	Inc, Dec, UMin, UMax                           uint32
}

// after is what w holds after all of x, whatever their order; Exch is not fixed.
func (w atomicWords) after(x []int32) atomicWords {
	for _, v := range x {
		w.Add, w.Sub = w.Add+v, w.Sub-v
		w.Min, w.Max, w.CASMax = min(w.Min, v), max(w.Max, v), max(w.CASMax, v)
		w.And, w.Or, w.Xor = w.And&v, w.Or|v, w.Xor^v
		w.UMin, w.UMax = min(w.UMin, uint32(v)), max(w.UMax, uint32(v))
		if w.Inc++; w.Inc > 9 {
			w.Inc = 0
		}
		if w.Dec == 0 || w.Dec > 9 {
			w.Dec = 9
		} else {
			w.Dec--
		}
	}
	return w
}

func TestAtomics(t *testing.T) {
	onEachBuild(t, "atomics", func(t *testing.T, g *gpu) {
		for _, n := range []int{0, 1, 33, 500} {
			x := ints(n, 0, 1)
			for _, kernel := range []string{"on_global", "on_shared"} {
				before := atomicWords{Add: 5, Sub: -5, Min: math.MaxInt32, Max: math.MinInt32, And: -1, Or: 0x10, Xor: 0x1234, Exch: 77,
					CASMax: -100, Inc: 4, Dec: 12, UMin: math.MaxUint32, UMax: 3}
				w := up(g, []atomicWords{before})
				s := line(1, 96)
				if kernel == "on_global" {
					s = line(cover(n, 96), 96)
				}
				g.launch(kernel, s, w, up(g, x), int32(n))
				got, want := w.down()[0], before.after(x)
				require.Contains(t, append(x, 77), got.Exch)
				want.Exch = got.Exch
				require.Equal(t, want, got, "%s, %d", kernel, n)
			}
		}
	})
}

func TestAtomicsReturnWhatWas(t *testing.T) {
	onEachBuild(t, "atomics", func(t *testing.T, g *gpu) {
		const n = 130
		counter, ring := up(g, []uint32{10}), up(g, []uint32{5})
		add, inc := zeros[uint32](g, n), zeros[uint32](g, n)
		g.launch("returned", line(3, 64), counter, ring, add, inc, int32(n))
		var wantAdd, wantInc []uint32
		for i := range uint32(n) {
			wantAdd, wantInc = append(wantAdd, 10+3*i), append(wantInc, (5+i)%7)
		}
		slices.Sort(wantInc)
		require.Equal(t, wantAdd, slices.Sorted(slices.Values(add.down())))
		require.Equal(t, wantInc, slices.Sorted(slices.Values(inc.down())))
		require.Equal(t, uint32(10+3*n), counter.down()[0])
		require.Equal(t, uint32((5+n)%7), ring.down()[0])
	})
}

func TestAtomicsOf64Bits(t *testing.T) {
	onEachBuild(t, "atomics", func(t *testing.T, g *gpu) {
		const n = 200
		halves := words(2*n, 0, 2)
		x := make([]int64, n)
		want := []uint64{1, math.MaxInt64, 1 << 63, math.MaxUint64, 0, math.MaxUint64, 0, 0}
		w := up(g, append(slices.Clone(want), 0))
		for i := range x {
			v := uint64(halves[2*i])<<32 | uint64(halves[2*i+1])
			x[i] = int64(v)
			want[0] += v
			want[1], want[2] = uint64(min(int64(want[1]), x[i])), uint64(max(int64(want[2]), x[i]))
			want[3], want[4] = min(want[3], v), max(want[4], v)
			want[5], want[6], want[7] = want[5]&v, want[6]|v, want[7]^v
		}
		g.launch("wide", line(4, 64), w, up(g, x), int32(n))
		got := w.down()
		require.Equal(t, want, got[:8])
		require.Contains(t, x, int64(got[8]))
	})
}

func TestAtomicsOfFloats(t *testing.T) {
	onEachBuild(t, "atomics", func(t *testing.T, g *gpu) {
		const n = 300
		x := random[float32](n, 3)
		f, d, h := zeros[float32](g, 1), zeros[float64](g, 1), zeros[uint16](g, 2)
		g.launch("floats", line(3, 128), f, d, h, up(g, x), int32(n))
		want, magnitude := sum(x)
		require.InDelta(t, want, f.down()[0], 0x1p-24*n*magnitude)
		require.InDelta(t, want, d.down()[0], 0x1p-53*n*magnitude)
		pair := h.down()
		require.InDelta(t, want, halfToFloat(pair[0]), 0x1p-11*n)
		require.Equal(t, halfToFloat(pair[0]), -halfToFloat(pair[1]))

		product, largest := up(g, []float64{3}), up(g, []float32{-5})
		g.launch("emulated", line(3, 128), product, largest, up(g, x), int32(n))
		wantProduct := 3.0
		for _, v := range x {
			wantProduct *= map[bool]float64{true: 0.5, false: 2}[v < 0]
		}
		require.Equal(t, wantProduct, product.down()[0])
		require.Equal(t, slices.Max(x), largest.down()[0])
	})
}

func TestAtomicsOfAScope(t *testing.T) {
	onEachBuild(t, "atomics", func(t *testing.T, g *gpu) {
		w := zeros[uint32](g, 5)
		g.launch("scoped", line(3, 40), w)
		require.Equal(t, []uint32{40, 40, 40, 120, math.MaxUint32}, w.down())
	})
}

func TestAtomicsOf16Bits(t *testing.T) {
	onEachBuild(t, "atomics", func(t *testing.T, g *gpu) {
		if strings.HasSuffix(t.Name(), "sm60") {
			t.Skip("needs sm_70")
		}
		w := up(g, []uint16{65000, 1})
		g.launch("shorts", line(4, 64), w, int32(250))
		require.Equal(t, []uint16{(65000 + 750) % 65536, 1}, w.down(), "its neighbour stays")
	})
}
