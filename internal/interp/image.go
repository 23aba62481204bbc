package interp

import (
	"fmt"
	"math"
)

// TexelFormat is the type of a channel of a texel.
type TexelFormat uint8

// The formats are those of CUDA's arrays.
const (
	TexelU8 TexelFormat = iota
	TexelU16
	TexelU32
	TexelS8
	TexelS16
	TexelS32
	TexelF16
	TexelF32
)

// bytes returns the size of a channel.
func (f TexelFormat) bytes() int { return [...]int{1, 2, 4, 1, 2, 4, 2, 4}[f] }

// signed reports whether channels are signed integers.
func (f TexelFormat) signed() bool {
	return f == TexelS8 || f == TexelS16 || f == TexelS32
}

// float reports whether channels are floats.
func (f TexelFormat) float() bool { return f >= TexelF16 }

// Image is an array of texels in global memory. Extents are in texels, and 0 for absent
// dimensions. Pitch and Slice are the distances in bytes of rows, and of slices or
// layers.
type Image struct {
	Base                 uint64
	Pitch, Slice         uint64
	Width, Height, Depth int
	Layers               int
	Cube                 bool
	Format               TexelFormat
	Channels             int
}

// AddressMode selects the result of a texture access outside the image.
type AddressMode uint8

// The address modes, as in CUDA's cudaTextureAddressMode.
const (
	AddressWrap AddressMode = iota
	AddressClamp
	AddressMirror
	AddressBorder
)

// Texture defines how an image is sampled.
type Texture struct {
	Image
	// Plain is set for linear memory: texels outside of it read as zero.
	Plain          bool
	Address        [3]AddressMode // by dimension
	Linear         bool           // interpolate between texels
	Normalized     bool           // coordinates are in [0, 1)
	ReadNormalized bool           // integers are read as floats of magnitude at most 1
	Border         [4]float32     // colour for AddressBorder
}

// firstHandle is far from all addresses, so that handles and addresses are distinct.
const firstHandle = 0x6000_0000_0000

// BindTexture returns the handle of a texture. It differs from those of all surfaces.
func (m *Memory) BindTexture(t Texture) uint64 { return m.bind(&t) }

// BindSurface returns a handle by which kernels load and store the bytes of an image.
func (m *Memory) BindSurface(i Image) uint64 { return m.bind(&i) }

// bind assigns the next handle to an object.
func (m *Memory) bind(v any) uint64 {
	handle := uint64(firstHandle + m.space.bound)
	m.space.bound++
	m.bindAt(handle, v)
	return handle
}

// BindTextureAt binds a texture to the reference whose variable starts at addr.
func (m *Memory) BindTextureAt(addr uint64, t Texture) { m.bindAt(addr, &t) }

// BindSurfaceAt binds an image to the reference whose variable starts at addr.
func (m *Memory) BindSurfaceAt(addr uint64, i Image) { m.bindAt(addr, &i) }

// bindAt makes addr a name of an object.
func (m *Memory) bindAt(addr uint64, v any) {
	if m.images == nil {
		m.images = map[uint64]any{}
	}
	m.images[addr] = v
}

// unbound is the value of a reference before anything is bound to it.
type unbound struct{}

// declareReference declares addr, where a reference of a module starts, as a name of
// images.
func (m *Memory) declareReference(addr uint64) { m.bindAt(addr, unbound{}) }

// forgetReference undoes declareReference.
func (m *Memory) forgetReference(addr uint64) { delete(m.images, addr) }

// Unbind releases a handle, and reports whether it was valid. The address of a
// reference is not a handle.
func (m *Memory) Unbind(handle uint64) bool {
	_, ok := m.images[handle]
	if !ok || handle < firstHandle {
		return false
	}
	delete(m.images, handle)
	return true
}

// noImage explains why a handle does not refer to an object of the given kind.
func (m *Memory) noImage(handle uint64, kind string) string {
	switch m.images[handle].(type) {
	case *Texture:
		return fmt.Sprintf("the handle %#x is of a texture, not of a %s", handle, kind)
	case *Image:
		return fmt.Sprintf("the handle %#x is of a surface, not of a %s", handle, kind)
	case unbound:
		return fmt.Sprintf("nothing is bound to the reference %s: bind a %s before the launch", m.Name(handle), kind)
	}
	if handle >= firstHandle && handle < firstHandle+uint64(m.space.bound) {
		return fmt.Sprintf("the %s with the handle %#x was destroyed", kind, handle)
	}
	return fmt.Sprintf("%#x is the handle of no %s", handle, kind)
}

// texelBytes is the size of a texel.
func (i *Image) texelBytes() int { return i.Format.bytes() * i.Channels }

// at returns the address of a texel; z counts slices or layers.
func (i *Image) at(x, y, z int) uint64 {
	return i.Base + uint64(z)*i.Slice + uint64(y)*i.Pitch + uint64(x*i.texelBytes())
}

// texel contains four channels as stored, integers extended to 32 bits.
type texel [4]uint32

// channel decodes one stored channel into 32 bits: an integer, or the bits of a float32.
func (f TexelFormat) channel(v uint64) uint32 {
	if f == TexelF16 {
		return math.Float32bits(float32(fromHalf(uint16(v))))
	}
	return uint32(signExtend(v, f.bytes(), f.signed()))
}

// normalize converts an integer channel to a float of magnitude at most 1. The most
// negative value counts as its successor.
func (f TexelFormat) normalize(v uint32) float32 {
	top := float32(uint32(1)<<(8*f.bytes()) - 1)
	if f.signed() {
		top = float32(uint32(1)<<(8*f.bytes()-1) - 1)
		return max(float32(int32(v))/top, -1)
	}
	return float32(v) / top
}

// floats reports whether sampling yields floats.
func (t *Texture) floats() bool { return t.Format.float() || t.ReadNormalized }

// outside returns the texel beyond a border: the border colour, as integers if the
// texture returns integers.
func (t *Texture) outside() (c texel) {
	for k := range min(t.Channels, 4) {
		c[k] = math.Float32bits(t.Border[k])
		if !t.floats() {
			c[k] = uint32(int64(t.Border[k]))
		}
	}
	return c
}

// edge applies an address mode to an index; ok is false beyond a border.
func edge(mode AddressMode, i, n int) (index int, ok bool) {
	switch mode {
	case AddressWrap:
		return ((i % n) + n) % n, true
	case AddressMirror:
		i = ((i % (2 * n)) + 2*n) % (2 * n)
		return min(i, 2*n-1-i), true
	case AddressBorder:
		return i, i >= 0 && i < n
	}
	return min(max(i, 0), n-1), true
}

// mode returns the address mode of a dimension. Wrap and mirror need normalized
// coordinates.
func (t *Texture) mode(dimension int) AddressMode {
	m := t.Address[dimension]
	if !t.Normalized && (m == AddressWrap || m == AddressMirror) {
		return AddressClamp
	}
	return m
}

// tap is the position of one coordinate: the two texels around it and the weight of the
// second, a multiple of 1/256; or one texel without a weight.
type tap struct {
	index  [2]int
	weight float64
}

// tap finds the texels around a coordinate in dimension k of n texels. Wrapped and mirrored
// coordinates are reduced first, so that one on the edge of a texel gets the position that
// the programming guide defines:
//
//	texel       │  i   │  i+1 │        x = i + 0.5 is the centre of texel i
//	centre         •      •           linear: weight of i+1 = frac(x - 0.5), in units of 1/256
//	                  x
//
// See "Texture Fetching" in the CUDA C++ programming guide.
func (t *Texture) tap(x float32, k, n int, linear bool) tap {
	u := float64(x)
	if t.Normalized {
		whole := math.Floor(u)
		switch {
		case t.Address[k] == AddressWrap:
			u -= whole
		case t.Address[k] == AddressMirror && math.Mod(whole, 2) == 0:
			u -= whole
		case t.Address[k] == AddressMirror:
			u = 1 - (u - whole)
		}
		u *= float64(n)
	}
	switch { // out of the range of an index, or NaN
	case u != u:
		u = 0
	case u > 1<<40:
		u = 1 << 40
	case u < -1<<40:
		u = -1 << 40
	}
	if !linear {
		i := int(math.Floor(u))
		return tap{[2]int{i, i}, 0}
	}
	u -= 0.5
	i := math.Floor(u)
	return tap{[2]int{int(i), int(i) + 1}, math.Floor((u-i)*256+0.5) / 256}
}

// face returns the face of a cube that a direction points at, and the position on it in [0,
// 1]. Faces are numbered +x, -x, +y, -y, +z, -z.
func face(x, y, z float32) (face int, s, t float32) {
	ax, ay, az := abs32(x), abs32(y), abs32(z)
	var m float32
	switch {
	case ax >= ay && ax >= az:
		if m, face, s, t = ax, 0, -z, -y; x < 0 {
			face, s = 1, z
		}
	case ay >= az:
		if m, face, s, t = ay, 2, x, z; y < 0 {
			face, t = 3, -z
		}
	default:
		if m, face, s, t = az, 4, x, -y; z < 0 {
			face, s = 5, -x
		}
	}
	if m == 0 {
		return 0, 0.5, 0.5
	}
	return face, (s/m + 1) / 2, (t/m + 1) / 2
}

// abs32 returns |x|.
func abs32(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }
