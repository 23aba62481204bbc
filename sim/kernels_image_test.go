package sim_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// texels copies an image to a new array.
func texels[T any](g *gpu, layout device.Texels, v []T) device.Array {
	a, err := g.CreateArray(layout)
	require.NoError(g.t, err)
	require.NoError(g.t, g.WriteArray(a, bytesOf(v)))
	return a
}

func (g *gpu) texture(d device.TextureDesc) uint64 {
	tex, err := g.CreateTexture(d)
	require.NoError(g.t, err)
	return uint64(tex)
}

func (g *gpu) surface(a device.Array) uint64 {
	s, err := g.CreateSurface(a)
	require.NoError(g.t, err)
	return uint64(s)
}

var clamped = [3]device.AddressMode{device.AddressClamp, device.AddressClamp, device.AddressClamp}

// Interpolation has weights of 8 bits: each may be off by half of 1/256, and the
// values here differ by at most 2 in each of the dimensions.
func TestTextureResize(t *testing.T) {
	const w, h, width, height = 13, 7, 40, 29
	onEachBuild(t, "image", func(t *testing.T, g *gpu) {
		src := random[float32](w*h, 1)
		a := texels(g, device.Texels{Format: device.TexelF32, Channels: 1, Width: w, Height: h}, src)
		tex := g.texture(device.TextureDesc{Array: a, Linear: true, Normalized: true, Address: clamped})
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
		layout := device.Texels{Format: device.TexelU8, Channels: 4, Width: w, Height: h}
		tex := g.texture(device.TextureDesc{Array: texels(g, layout, src), Address: clamped})
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
		tex := g.texture(device.TextureDesc{Memory: up(g, table).at, Layout: device.Texels{Format: device.TexelF32, Channels: 1, Width: len(table)}})
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
		a := texels(g, device.Texels{Format: device.TexelF32, Channels: 1, Width: w, Height: h, Depth: depth}, volume)
		tex := g.texture(device.TextureDesc{Array: a, Address: clamped})
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
		a := texels(g, device.Texels{Format: device.TexelF32, Channels: 1, Width: w, Height: h}, src)
		g.launch("flip", plane(cover(w, 32), h/2, 32, 1), g.surface(a), int32(w), int32(h))
		got := make([]float32, w*h)
		require.NoError(t, g.ReadArray(bytesOf(got), a))
		for y := range h {
			require.Equal(t, src[(h-1-y)*w:(h-y)*w], got[y*w:(y+1)*w], "row %d", y)
		}
	})
}
