package sim_test

import (
	"math"
	"math/bits"
	"math/cmplx"
	"testing"
)

// dft is the transform by its definition; sign is that of the exponent.
func dft(x []complex128, sign float64) []complex128 {
	n := len(x)
	out := make([]complex128, n)
	for k := range out {
		for j, v := range x {
			out[k] += v * cmplx.Rect(1, sign*2*math.Pi*float64(j*k%n)/float64(n))
		}
	}
	return out
}

// parts are the real and imaginary parts in turn.
func parts(z []complex128) []float64 {
	var out []float64
	for _, v := range z {
		out = append(out, real(v), imag(v))
	}
	return out
}

func joined[T float32 | float64](v []T) []complex128 {
	z := make([]complex128, len(v)/2)
	for i := range z {
		z[i] = complex(float64(v[2*i]), float64(v[2*i+1]))
	}
	return z
}

// An FFT's error grows with the number of its stages, and its values with sqrt(n).
func fftError(n int, unit float64) float64 {
	return 4 * unit * float64(bits.Len(uint(n))) * math.Sqrt(float64(n)) * 2
}

func TestFFTOfABlock(t *testing.T) {
	g := load(t, "fft")
	for _, n := range []int{2, 8, 64, 1024} {
		for _, sign := range []float32{-1, 1} {
			const batch = 2
			x := random[float32](2*n*batch, 1)
			y := zeros[float32](g, len(x))
			s := line(batch, n/2)
			s.shared = uint32(8 * n)
			g.launch("fft_block", s, up(g, x), y, int32(bits.Len(uint(n))-1), sign)
			var want []float64
			for b := range batch {
				want = append(want, parts(dft(joined(x[2*n*b:2*n*(b+1)]), float64(sign)))...)
			}
			within(t, want, y.down(), always(fftError(n, 0x1p-24)), "%d points, sign %v", n, sign)
		}
	}
}

func TestFFTByStages(t *testing.T) {
	g := load(t, "fft")
	for _, n := range []int{2, 16, 512} {
		x := random[float64](2*n, 2)
		from, to := up(g, x), zeros[float64](g, 2*n)
		for half := 1; half < n; half *= 2 {
			g.launch("fft_stockham", line(cover(n/2, 64), 64), from, to, int32(n), int32(half))
			from, to = to, from
		}
		within(t, parts(dft(joined(x), -1)), from.down(), always(fftError(n, 0x1p-53)*4), "%d points", n)
	}
}
