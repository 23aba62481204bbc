package sim_test

import (
	"math"
	"testing"

	"github.com/reprise-gpu/reprise/internal/texel"

	"github.com/stretchr/testify/require"
)

// texels copies an image to a new array.
func texels[T any](g *gpu, layout texel.Layout, v []T) texel.Array {
	a, err := g.CreateArray(layout)
	require.NoError(g.t, err)
	require.NoError(g.t, g.WriteArray(a, bytesOf(v)))
	return a
}

func (g *gpu) texture(d texel.Desc) uint64 {
	tex, err := g.CreateTexture(d)
	require.NoError(g.t, err)
	return uint64(tex)
}

func (g *gpu) surface(a texel.Array) uint64 {
	s, err := g.CreateSurface(a)
	require.NoError(g.t, err)
	return uint64(s)
}

var clamped = [3]texel.AddressMode{texel.Clamp, texel.Clamp, texel.Clamp}

// Interpolation has weights of 8 bits: each may be off by half of 1/256, and the
// values here differ by at most 2 in each of the dimensions.
func TestTextureResize(t *testing.T) {
	const w, h, width, height = 13, 7, 40, 29
	onEachBuild(t, "image", func(t *testing.T, g *gpu) {
		src := random[float32](w*h, 1)
		a := texels(g, texel.Layout{Format: texel.F32, Channels: 1, Width: w, Height: h}, src)
		tex := g.texture(texel.Desc{Array: a, Linear: true, Normalized: true, Address: clamped})
		out := zeros[float32](g, width*height)
		g.launch("resize", plane(cover(width, 16), cover(height, 8), 16, 8), tex, out, int32(width), int32(height))
		at := func(x, y int) float64 {
			return float64(src[min(max(y, 0), h-1)*w+min(max(x, 0), w-1)])
		}
		var want []float64
		for y := range height {
			for x := range width {
				u, v := (float64(x)+0.5)/width*w-0.5, (float64(y)+0.5)/height*h-0.5
				i, j := math.Floor(u), math.Floor(v)
				p, q := u-i, v-j
				top := (1-p)*at(int(i), int(j)) + p*at(int(i)+1, int(j))
				bottom := (1-p)*at(int(i), int(j)+1) + p*at(int(i)+1, int(j)+1)
				want = append(want, (1-q)*top+q*bottom)
			}
		}
		within(t, want, out.down(), always(2*2*0.5/256+1e-5))
	})
}

func TestSurfaceInvert(t *testing.T) {
	const w, h = 21, 9
	onEachBuild(t, "image", func(t *testing.T, g *gpu) {
		var src []uint8
		for _, v := range words(4*w*h, 256, 2) {
			src = append(src, uint8(v))
		}
		layout := texel.Layout{Format: texel.U8, Channels: 4, Width: w, Height: h}
		tex := g.texture(texel.Desc{Array: texels(g, layout, src), Address: clamped})
		dst := texels(g, layout, make([]uint8, 4*w*h))
		g.launch("invert", plane(cover(w, 8), cover(h, 8), 8, 8), tex, g.surface(dst), int32(w), int32(h))
		got := make([]uint8, 4*w*h)
		require.NoError(t, g.ReadArray(got, dst))
		for i, v := range src {
			if i%4 < 3 {
				v = 255 - v
			}
			require.Equal(t, v, got[i], "byte %d", i)
		}
	})
}

func TestTextureGather(t *testing.T) {
	onEachBuild(t, "image", func(t *testing.T, g *gpu) {
		table := random[float32](100, 3)
		tex := g.texture(texel.Desc{Memory: up(g, table).at, Layout: texel.Layout{Format: texel.F32, Channels: 1, Width: len(table)}})
		var index []int32
		for _, v := range words(500, 140, 4) {
			index = append(index, int32(v)-20)
		}
		out := zeros[float32](g, len(index))
		g.launch("gather", line(cover(len(index), 64), 64), tex, up(g, index), out, int32(len(index)))
		for i, v := range out.down() {
			want := float32(0)
			if j := int(index[i]); j >= 0 && j < len(table) {
				want = table[j]
			}
			require.Equal(t, want, v, "element %d", i)
		}
	})
}

func TestTextureVolume(t *testing.T) {
	const w, h, depth, n = 6, 5, 4, 100
	onEachBuild(t, "image", func(t *testing.T, g *gpu) {
		volume := random[float32](w*h*depth, 5)
		a := texels(g, texel.Layout{Format: texel.F32, Channels: 1, Width: w, Height: h, Depth: depth}, volume)
		tex := g.texture(texel.Desc{Array: a, Address: clamped})
		from, step := [3]float32{-0.5, 0.25, 0.125}, [3]float32{0.0625, 0.046875, 0.03125}
		out := zeros[float32](g, n)
		g.launch("ray", line(cover(n, 32), 32), tex, from, step, out, int32(n))
		for i, v := range out.down() {
			index := func(k, n int) int {
				return min(max(int(math.Floor(float64(from[k])+float64(i)*float64(step[k]))), 0), n-1)
			}
			require.Equal(t, volume[(index(2, depth)*h+index(1, h))*w+index(0, w)], v, "step %d", i)
		}
	})
}

func TestSurfaceFlip(t *testing.T) {
	const w, h = 33, 10
	onEachBuild(t, "image", func(t *testing.T, g *gpu) {
		src := random[float32](w*h, 6)
		a := texels(g, texel.Layout{Format: texel.F32, Channels: 1, Width: w, Height: h}, src)
		g.launch("flip", plane(cover(w, 32), h/2, 32, 1), g.surface(a), int32(w), int32(h))
		got := make([]float32, w*h)
		require.NoError(t, g.ReadArray(bytesOf(got), a))
		for y := range h {
			require.Equal(t, src[(h-1-y)*w:(h-y)*w], got[y*w:(y+1)*w], "row %d", y)
		}
	})
}

// texel is element i of n, or of what its address mode puts there.
func addressed(i, n int, mode texel.AddressMode) (index int, inside bool) {
	switch mode {
	case texel.Wrap:
		return (i%n + n) % n, true
	case texel.Mirror:
		if i = (i%(2*n) + 2*n) % (2 * n); i >= n {
			i = 2*n - 1 - i
		}
		return i, true
	case texel.Border:
		return i, i >= 0 && i < n
	}
	return min(max(i, 0), n-1), true
}

// weights is the two texels between which a coordinate lies, and how far it is
// to the second: the formula of the Programming Guide.
func weights(x float64) (first int, second float64) {
	below := math.Floor(x - 0.5)
	return int(below), x - 0.5 - below
}

func TestTextureFilteringAndAddressing(t *testing.T) {
	g := load(t, "image")
	const width, height, n = 7, 5, 300
	pixels, at := random[float32](width*height, 1), random[float32](2*n, 2)
	a := texels(g, texel.Layout{Format: texel.F32, Channels: 1, Width: width, Height: height}, pixels)
	for _, linear := range []bool{false, true} {
		for _, mode := range []texel.AddressMode{texel.Wrap, texel.Clamp, texel.Mirror, texel.Border} {
			const border = 0.5
			tex := g.texture(texel.Desc{Array: a, Linear: linear, Normalized: true, Address: [3]texel.AddressMode{mode, mode, mode}, Border: [4]float32{border}})
			get := func(x, y int) float64 {
				i, inX := addressed(x, width, mode)
				j, inY := addressed(y, height, mode)
				if !inX || !inY {
					return border
				}
				return float64(pixels[j*width+i])
			}
			want := make([]float64, n)
			for i := range want {
				x, y := 1.5*float64(at[2*i])*width, 1.5*float64(at[2*i+1])*height
				if !linear {
					want[i] = get(int(math.Floor(x)), int(math.Floor(y)))
					continue
				}
				x0, wx := weights(x)
				y0, wy := weights(y)
				want[i] = (1-wy)*((1-wx)*get(x0, y0)+wx*get(x0+1, y0)) + wy*((1-wx)*get(x0, y0+1)+wx*get(x0+1, y0+1))
			}
			points := make([]float32, 2*n)
			for i, v := range at {
				points[i] = 1.5 * v
			}
			out := zeros[float32](g, n)
			g.launch("sample", line(cover(n, 64), 64), tex, up(g, points), out, int32(n))
			// Weights have 8 bits: half of the last on each of two axes, of values 2 apart.
			within(t, want, out.down(), always(2*0x1p-8*2), "linear %v, mode %d", linear, mode)
		}
	}
}

func TestRotatedImageOfBytes(t *testing.T) {
	g := load(t, "image")
	const width, height = 20, 12
	pixels := bytesOf(words(width*height, 0, 3))
	a := texels(g, texel.Layout{Format: texel.U8, Channels: 4, Width: width, Height: height}, pixels)
	tex := g.texture(texel.Desc{Array: a, Normalized: true, ReadNormalized: true, Address: [3]texel.AddressMode{texel.Border, texel.Border}})
	sine, cosine := math.Sincos(0.4)
	out := zeros[float32](g, 4*width*height)
	g.launch("rotate", plane(cover(width, 8), cover(height, 8), 8, 8), tex, out, int32(width), int32(height), float32(sine), float32(cosine))
	var want []float64
	for p := range width * height {
		u, v := (float64(p%width)+0.5)/width-0.5, (float64(p/width)+0.5)/height-0.5
		x := int(math.Floor((u*cosine - v*sine + 0.5) * width))
		y := int(math.Floor((u*sine + v*cosine + 0.5) * height))
		for c := range 4 {
			value := 0.0
			if x >= 0 && x < width && y >= 0 && y < height {
				value = float64(pixels[4*(y*width+x)+c]) / 255
			}
			want = append(want, value)
		}
	}
	within(t, want, out.down(), always(1e-6))
}

func TestTextureLayers(t *testing.T) {
	g := load(t, "image")
	const w, h, count = 6, 4, 3
	content := random[float32](w*h*count, 8)
	a := texels(g, texel.Layout{Format: texel.F32, Channels: 1, Width: w, Height: h, Layers: count}, content)
	out := zeros[float32](g, w*h)
	g.launch("layers", plane(1, 1, 8, 8), g.texture(texel.Desc{Array: a}), out, int32(w), int32(h), int32(count))
	want := make([]float64, w*h)
	for i := range want {
		for l := range count {
			want[i] += float64(l+1) * float64(content[l*w*h+i])
		}
	}
	within(t, want, out.down(), always(6*0x1p-22))
}

func TestSurfaces(t *testing.T) {
	g := load(t, "image")
	const w, h = 13, 9
	pixels := make([]uint16, w*h)
	for i, v := range words(w*h, 1<<16, 9) {
		pixels[i] = uint16(v)
	}
	shape := texel.Layout{Format: texel.U16, Channels: 1, Width: w, Height: h}
	in, out := texels(g, shape, pixels), texels(g, shape, make([]uint16, w*h))
	g.launch("box", plane(2, 2, 8, 8), g.surface(in), g.surface(out), int32(w), int32(h))
	got, want := make([]uint16, w*h), make([]uint16, w*h)
	require.NoError(t, g.SynchronizeAll())
	require.NoError(t, g.ReadArray(bytesOf(got), out))
	for i := range want {
		sum := uint32(0)
		for d := range 9 {
			if x, y := i%w+d%3-1, i/w+d/3-1; x >= 0 && x < w && y >= 0 && y < h {
				sum += uint32(pixels[y*w+x])
			}
		}
		want[i] = uint16(sum / 9)
	}
	require.Equal(t, want, got)
}
