package sim_test

import (
	"cmp"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSmallestInALocalArray(t *testing.T) {
	g := load(t, "local")
	for _, n := range []int{0, 3, 5, 50} {
		const threads = 40
		var shorts []uint16
		for _, w := range words(threads*n, 1000, 1) {
			shorts = append(shorts, uint16(w))
		}
		reals := random[float64](threads*n, 2)
		a, b := zeros[uint16](g, threads*5), zeros[float64](g, threads*7)
		g.launch("smallest_u16", line(1, threads), up(g, shorts), a, int32(n))
		g.launch("smallest_f64", line(1, threads), up(g, reals), b, int32(n))
		var wantA []uint16
		var wantB []float64
		for i := range threads {
			wantA = append(wantA, slices.Concat(slices.Sorted(slices.Values(shorts[i*n:(i+1)*n])), slices.Repeat([]uint16{0xffff}, 5))[:5]...)
			wantB = append(wantB, slices.Concat(slices.Sorted(slices.Values(reals[i*n:(i+1)*n])), slices.Repeat([]float64{-1}, 7))[:7]...)
		}
		require.Equal(t, wantA, a.down(), "%d", n)
		require.Equal(t, wantB, b.down(), "%d", n)
	}
}

// The number of solutions for n queens is known: OEIS A000170.
func TestQueens(t *testing.T) {
	g := load(t, "local")
	for _, n := range []int{1, 2, 4, 6, 7} {
		total := map[int]int32{1: 1, 2: 0, 4: 2, 6: 4, 7: 40}[n]
		ways := zeros[int32](g, n)
		g.launch("queens", line(1, 32), ways, int32(n))
		sum := int32(0)
		for _, w := range ways.down() {
			sum += w
		}
		require.Equal(t, total, sum, "%d queens", n)
	}
}

func TestBytesInLocalMemory(t *testing.T) {
	g := load(t, "local")
	const n = 70
	for flip := range int32(4) {
		in, out := words(n, 0, 3), zeros[uint32](g, n)
		g.launch("shuffle_bytes", line(3, 32), up(g, in), out, int32(n), flip)
		var want []uint32
		for _, w := range in {
			var b, c [4]byte
			binary.LittleEndian.PutUint32(b[:], w)
			for i := range b {
				c[i^int(flip)] = b[i]
			}
			want = append(want, binary.LittleEndian.Uint32(c[:]))
		}
		require.Equal(t, want, out.down())
	}
}

func TestStructsInALocalArray(t *testing.T) {
	// The struct of local.cu, whose padding C leaves undefined.
	type particle struct {
		X, Y, Z float64
		Kind    int16
		_       int16
		Mass    float32
	}
	g := load(t, "local")
	const threads, n = 33, 9
	in := make([]particle, threads*n)
	for i, w := range words(len(in), 1000, 4) {
		in[i] = particle{float64(i), float64(w), -float64(i), int16(i), 0, float32(w)}
	}
	out := zeros[particle](g, len(in))
	g.launch("sort_structs", line(1, threads), up(g, in), out, int32(n))
	for own := range slices.Chunk(in, n) {
		slices.SortStableFunc(own, func(a, b particle) int { return cmp.Compare(a.Mass, b.Mass) })
	}
	require.Equal(t, in, out.down())
}
