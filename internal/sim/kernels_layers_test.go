package sim_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// The layers of neural networks, at sizes that are not multiples of tiles, with and without strides and padding.

// layer loads a kernel of package kernels. A race or a read of what was never written fails the test.
func layer(t *testing.T, name string) *gpu {
	t.Helper()
	k, ok := kernels.Lookup(name)
	require.True(t, ok)
	return loadWith(t, sim.Options{Race: sim.RaceOn}, k.File, k.PTX)
}

// run launches the only kernel of the module with a shape of package kernels. Output buffers are not written before.
func (g *gpu) run(s kernels.Shape, err error, args ...any) {
	g.t.Helper()
	require.NoError(g.t, err)
	g.launch(g.tree.Funcs[0].Name, shape{grid: device.Dim3(s.Grid), block: device.Dim3(s.Block), shared: s.Shared}, args...)
}

// unwritten allocates n elements and writes none.
func unwritten(g *gpu, n int) array[float32] {
	g.t.Helper()
	p, err := g.Alloc(int64(4 * n))
	require.NoError(g.t, err)
	return array[float32]{g, p, n}
}

// transposedProduct returns the parts of a product of a, transposed, and b, and a bound of their rounding errors.
func transposedProduct(p kernels.Product, a, b []float32) (want []float64, bound func(int) float64) {
	want = make([]float64, p.Parts()*p.M*p.N)
	magnitude := make([]float64, len(want))
	for l := range p.K {
		for i := range p.M {
			for j := range p.N {
				v := float64(a[l*p.M+i]) * float64(b[l*p.N+j])
				at := (l/p.Depth*p.M+i)*p.N + j
				want[at] += v
				magnitude[at] += math.Abs(v)
			}
		}
	}
	return want, func(i int) float64 { return 0x1p-24 * float64(p.K+2) * magnitude[i] }
}

func TestGemmsOfLayers(t *testing.T) {
	shapes := map[string]func(kernels.Product) (kernels.Shape, error){
		"gemm_128x64": kernels.Gemm128x64Shape, "gemm_64x64": kernels.Gemm64x64Shape, "gemm_thin": kernels.GemmThinShape, "gemm_plain": kernels.GemmPlainShape,
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			g := layer(t, name)
			for _, p := range []kernels.Product{
				{M: 1, N: 1, K: 1, Depth: 1}, {M: 129, N: 65, K: 65, Depth: 65}, {M: 64, N: 49, K: 140, Depth: 72}, {M: 130, N: 3, K: 5, Depth: 2},
			} {
				if name == "gemm_thin" {
					p.Depth = p.K
				}
				a, b := random[float32](p.K*p.M, 1), random[float32](p.K*p.N, 2)
				want, bound := transposedProduct(p, a, b)
				out := unwritten(g, len(want))
				args := []any{out, up(g, a), up(g, b), int32(p.M), int32(p.N), int32(p.K)}
				if name != "gemm_thin" {
					args = append(args, int32(p.Depth))
				}
				s, err := shape(p)
				g.run(s, err, args...)
				within(t, want, out.down(), bound, "%s %+v", name, p)
			}
		})
	}
}

// paddedWindows are windows at awkward extents.
var paddedWindows = []kernels.PaddedWindow{
	{Channels: 1, Images: 1, Rows: 1, Cols: 1, Side: 3, Stride: 1, Pad: 1},
	{Channels: 1, Images: 1, Rows: 1, Cols: 1, Side: 3, Stride: 2, Pad: 1},
	{Channels: 3, Images: 1, Rows: 13, Cols: 9, Side: 3, Stride: 1, Pad: 1},
	{Channels: 5, Images: 2, Rows: 8, Cols: 11, Side: 3, Stride: 2, Pad: 1},
	{Channels: 2, Images: 3, Rows: 7, Cols: 7, Side: 3, Stride: 2, Pad: 1},
}

// pixel is a pixel of an image, and whether it exists.
func pixel(w kernels.PaddedWindow, x []float32, l, s, i, j int) (float64, bool) {
	if i < 0 || j < 0 || i >= w.Rows || j >= w.Cols {
		return 0, false
	}
	return float64(x[((l*w.Images+s)*w.Rows+i)*w.Cols+j]), true
}

// eachTap calls f for each channel, each place of the window, and each of its taps, with the pixel under it.
func eachTap(w kernels.PaddedWindow, x []float32, f func(l, place, tap int, v float64, inside bool)) {
	high, wide := w.Out()
	for l := range w.Channels {
		for p := range w.Images * high * wide {
			s, i, j := p/(high*wide), p/wide%high, p%wide
			for tap := range w.Side * w.Side {
				v, inside := pixel(w, x, l, s, i*w.Stride-w.Pad+tap/w.Side, j*w.Stride-w.Pad+tap%w.Side)
				f(l, p, tap, v, inside)
			}
		}
	}
}

func outputs(w kernels.PaddedWindow) (places int) {
	high, wide := w.Out()
	return w.Images * high * wide
}

func pixels(w kernels.PaddedWindow) int { return w.Channels * w.Images * w.Rows * w.Cols }

func TestIm2col(t *testing.T) {
	g := layer(t, "im2col")
	for _, w := range append(paddedWindows,
		kernels.PaddedWindow{Channels: 3, Images: 2, Rows: 15, Cols: 18, Side: 7, Stride: 2, Pad: 3},
		kernels.PaddedWindow{Channels: 70, Images: 1, Rows: 9, Cols: 8, Side: 1, Stride: 2},
		kernels.PaddedWindow{Channels: 2, Images: 1, Rows: 4, Cols: 6, Side: 4, Stride: 3}) {
		x := random[float32](pixels(w), 1)
		places := outputs(w)
		want := make([]float64, w.Channels*w.Side*w.Side*places)
		eachTap(w, x, func(l, p, tap int, v float64, _ bool) { want[(l*w.Side*w.Side+tap)*places+p] = v })
		for _, blocks := range []int{1, 64} {
			out := unwritten(g, len(want))
			s, err := kernels.Im2colShape(blocks, 64, w)
			g.run(s, err, out, up(g, x), int32(w.Channels), int32(w.Images), int32(w.Rows), int32(w.Cols), int32(w.Side), int32(w.Stride), int32(w.Pad))
			within(t, want, out.down(), always(0), "%+v, %d blocks", w, blocks)
		}
	}
}

func TestDepthwise(t *testing.T) {
	g := layer(t, "depthwise")
	for _, w := range paddedWindows {
		x, weights, bias := random[float32](pixels(w), 1), random[float32](9*w.Channels, 2), random[float32](w.Channels, 3)
		places := outputs(w)
		want := make([]float64, w.Channels*places)
		for i := range want {
			want[i] = float64(bias[i/places])
		}
		eachTap(w, x, func(l, p, tap int, v float64, _ bool) { want[l*places+p] += float64(weights[9*l+tap]) * v })
		clamp(want, 0, 0.75)
		for _, blocks := range []int{1, 64} {
			out := unwritten(g, len(want))
			s, err := kernels.DepthwiseShape(blocks, 64, w)
			g.run(s, err, out, up(g, x), up(g, weights), up(g, bias), int32(w.Channels), int32(w.Images), int32(w.Rows), int32(w.Cols),
				int32(w.Stride), float32(0), float32(0.75))
			within(t, want, out.down(), always(1e-5), "%+v, %d blocks", w, blocks)
		}
	}
}

func clamp(v []float64, low, high float64) {
	for i := range v {
		v[i] = min(max(v[i], low), high)
	}
}

func TestMaxPooling(t *testing.T) {
	g := layer(t, "max_pooling")
	for _, w := range append(paddedWindows, kernels.PaddedWindow{Channels: 70, Images: 1, Rows: 6, Cols: 6, Side: 2, Stride: 2}) {
		x := random[float32](pixels(w), 1)
		for i := range x {
			x[i]-- // all negative, so that a padding of 0 would show
		}
		want := make([]float64, w.Channels*outputs(w))
		for i := range want {
			want[i] = math.Inf(-1)
		}
		eachTap(w, x, func(l, p, _ int, v float64, inside bool) {
			if at := l*outputs(w) + p; inside {
				want[at] = max(want[at], v)
			}
		})
		out := unwritten(g, len(want))
		s, err := kernels.MaxPoolingShape(3, 64, w)
		g.run(s, err, out, up(g, x), int32(w.Channels*w.Images), int32(w.Rows), int32(w.Cols), int32(w.Side), int32(w.Stride), int32(w.Pad))
		within(t, want, out.down(), always(0), "%+v", w)
	}
}

func TestBiases(t *testing.T) {
	none := math.Inf(1)
	for _, c := range []struct {
		parts, channels, places int
		low, high               float64
	}{{1, 1, 1, 0, none}, {3, 5, 49, -none, none}, {2, 70, 100, 0, 0.5}, {1, 3, 1000, -none, 0}} {
		n := c.channels * c.places
		x, y, bias := random[float32](c.parts*n, 1), random[float32](n, 2), random[float32](c.channels, 3)
		x[0] = float32(math.NaN())
		for _, add := range []bool{false, true} {
			want := make([]float64, n)
			for i := range x {
				want[i%n] += float64(x[i])
			}
			for i := range want {
				want[i] += float64(bias[i/c.places])
				if add {
					want[i] += float64(y[i])
				}
			}
			clamp(want, c.low, c.high)
			numbers := []any{int32(c.parts), int32(c.channels), int32(c.places), float32(c.low), float32(c.high)}
			var g *gpu
			var out array[float32]
			if add {
				g = layer(t, "bias_add")
				out = unwritten(g, n)
				s, err := kernels.BiasAddShape(2, 32, c.parts, c.channels, c.places)
				g.run(s, err, append([]any{out, up(g, x), up(g, bias), up(g, y)}, numbers...)...)
			} else {
				g = layer(t, "bias_clamp")
				out = unwritten(g, n)
				s, err := kernels.BiasClampShape(2, 32, c.parts, c.channels, c.places)
				g.run(s, err, append([]any{out, up(g, x), up(g, bias)}, numbers...)...)
			}
			within(t, want, out.down(), always(1e-6), "%+v, add %v", c, add)
		}
	}
}

func TestPlaneMean(t *testing.T) {
	g := layer(t, "plane_mean")
	for _, c := range [][2]int{{1, 1}, {3, 49}, {70, 31}, {2, 1000}} {
		x := random[float32](c[0]*c[1], 1)
		want := make([]float64, c[0])
		for i := range x {
			want[i/c[1]] += float64(x[i]) / float64(c[1])
		}
		for _, threads := range []int{32, 96} {
			out := unwritten(g, c[0])
			s, err := kernels.PlaneMeanShape(2, threads, c[0], c[1])
			g.run(s, err, out, up(g, x), int32(c[0]), int32(c[1]))
			within(t, want, out.down(), always(1e-6), "%v", c)
		}
	}
}

func TestSoftmaxColumns(t *testing.T) {
	g := layer(t, "softmax_columns")
	for _, c := range [][2]int{{1, 1}, {1000, 3}, {255, 2}, {257, 5}} {
		classes, images := c[0], c[1]
		x := random[float32](classes*images, 1)
		want, sums := make([]float64, len(x)), make([]float64, images)
		for i := range x {
			x[i] = 200*x[i] + 500 // exp of which overflows
			want[i] = math.Exp(float64(x[i]) - 700)
			sums[i%images] += want[i]
		}
		for i := range want {
			want[i] /= sums[i%images]
		}
		out := unwritten(g, len(x))
		s, err := kernels.SoftmaxColumnsShape(2, classes, images)
		g.run(s, err, out, up(g, x), int32(classes), int32(images))
		within(t, want, out.down(), func(i int) float64 { return 1e-6 + 1e-5*want[i] }, "%v", c)
	}
}
