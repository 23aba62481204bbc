package sim_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// smallHalves are halves that are multiples of 1/8 below 2, so that sums of a few
// hundred products are exact.
func smallHalves(n int, seed uint64) (bits []uint16, values []float64) {
	var all []uint16
	for h := range uint16(1 << 15) {
		if v := 8 * halfToFloat(h); v < 16 && v == math.Trunc(v) {
			all = append(all, h)
		}
	}
	rng := rand.New(rand.NewPCG(seed, 3))
	for range n {
		h := all[rng.IntN(len(all))] | uint16(rng.IntN(2))<<15
		bits, values = append(bits, h), append(values, halfToFloat(h))
	}
	return bits, values
}

func TestTensorCores(t *testing.T) {
	const m, n, k = 32, 48, 64
	onEachBuild(t, "tensor", func(t *testing.T, g *gpu) {
		ab, a := smallHalves(m*k, 1)
		bb, b := smallHalves(n*k, 2)
		c := random[float32](m*n, 3)
		dc := up(g, c)
		g.launch("wmma_gemm", plane(n/16, m/16, 32, 1), up(g, ab), up(g, bb), dc, int32(n), int32(k), float32(0.5), float32(-2))
		want := make([]float64, m*n)
		for i := range m {
			for j := range n {
				sum := 0.0
				for l := range k {
					sum += a[i*k+l] * b[j*k+l]
				}
				want[i*n+j] = 0.5*sum - 2*float64(c[i*n+j])
			}
		}
		within(t, want, dc.down(), always(1e-5))

		tile := zeros[float32](g, 16*8)
		g.launch("mma_tile", line(1, 32), up(g, ab), up(g, bb), tile, int32(k))
		want = want[:16*8]
		for i := range 16 {
			for j := range 8 {
				want[i*8+j] = 0
				for l := range k {
					want[i*8+j] += a[i*k+l] * b[j*k+l]
				}
			}
		}
		within(t, want, tile.down(), always(0))
	})
}

func TestTensorCoresOnBytes(t *testing.T) {
	const m, n, k = 16, 32, 96
	onEachBuild(t, "tensor", func(t *testing.T, g *gpu) {
		bytes := func(n int, seed uint64) (v []int8) {
			for _, w := range words(n, 256, seed) {
				v = append(v, int8(w))
			}
			return v
		}
		a, b := bytes(m*k, 4), bytes(n*k, 5)
		c := zeros[int32](g, m*n)
		g.launch("wmma_bytes", plane(n/16, m/16, 32, 1), up(g, a), up(g, b), c, int32(n), int32(k))
		want := make([]int32, m*n)
		for i := range m {
			for j := range n {
				for l := range k {
					want[i*n+j] += int32(a[i*k+l]) * int32(b[j*k+l])
				}
			}
		}
		require.Equal(t, want, c.down())
	})
}

// halvesOf are random halves of moderate size, as bits and as values.
func halvesOf(n int, seed uint64) (bits []uint16, values []float32) {
	for _, w := range words(n, 0, seed) {
		h := uint16(w)&0x83ff | uint16(0x3000+w>>16%4<<10)
		bits, values = append(bits, h), append(values, float32(halfToFloat(h)))
	}
	return bits, values
}

// columns is a k by n matrix stored by columns.
func columns[T any](k, n int, b []T) []T {
	out := make([]T, len(b))
	for i := range k {
		for j := range n {
			out[j*k+i] = b[i*n+j]
		}
	}
	return out
}

func TestTensorCoreProducts(t *testing.T) {
	onEachBuild(t, "tensor", func(t *testing.T, g *gpu) {
		const m, n, k = 64, 32, 48
		a, av := halvesOf(m*k, 1)
		b, bv := halvesOf(k*n, 2)
		c := random[float32](m*n, 3)
		want, bound := product(m, n, k, 1, av, bv, 1, c)
		for kernel, tile := range map[string][2]int{"hgemm_16x16": {16, 16}, "hgemm_32x8": {32, 8}, "hgemm_8x32": {8, 32}} {
			out := up(g, c)
			g.launch(kernel, line(1, 32).over(n/tile[1], m/tile[0]), int32(n), int32(k), up(g, a), up(g, columns(k, n, b)), out)
			within(t, want, out.down(), bound(0x1p-24), kernel)
		}
	})
}
