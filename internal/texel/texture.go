// Package texel holds the texture and surface calls that only the simulated device has: arrays of texels that kernels
// sample and store to by coordinates.
package texel

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
)

// Handles of a Device. A kernel receives a texture or a surface as a 64-bit parameter.
type (
	Array   uint64
	Texture uint64
	Surface uint64
)

// Device is a device with textures and surfaces: arrays of texels that kernels sample and store to by coordinates.
type Device interface {
	// CreateArray allocates an array of texels. Its initial content is undefined.
	CreateArray(Layout) (Array, error)
	// DestroyArray waits for the device, then frees the array. Its textures and surfaces must not be used any more.
	DestroyArray(Array) error
	// WriteArray and ReadArray wait for all work, then copy all texels in order of x, then y, then layer or z,
	// without padding.
	WriteArray(dst Array, src []byte) error
	ReadArray(dst []byte, src Array) error

	CreateTexture(Desc) (Texture, error)
	DestroyTexture(Texture) error
	CreateSurface(Array) (Surface, error)
	DestroySurface(Surface) error
}

// Layout describes the format and the layout of texels. Extents are in texels; the extents of absent dimensions are
// 0. If Layers is not 0, the array is a list of images: a cube has six layers (+x -x +y -y +z -z), and a list of
// cubes a multiple of six.
type Layout struct {
	Format               Format // of one channel
	Channels             int    // 1, 2 or 4
	Width, Height, Depth int
	Layers               int
	Cube                 bool
}

// Format is the type of a channel.
type Format uint8

const (
	U8 Format = iota
	U16
	U32
	S8
	S16
	S32
	F16
	F32
)

// Bytes returns the size of a channel in bytes, or 0 for an unknown format.
func (f Format) Bytes() int {
	sizes := [...]int{1, 2, 4, 1, 2, 4, 2, 4}
	if int(f) >= len(sizes) {
		return 0
	}
	return sizes[f]
}

// Float reports whether a channel is a floating-point number.
func (f Format) Float() bool { return f >= F16 }

// Bytes returns the size of all texels in bytes, without padding.
func (t *Layout) Bytes() int64 {
	n := int64(t.Format.Bytes() * t.Channels)
	for _, extent := range []int{t.Width, t.Height, t.Depth, t.Layers} {
		n *= int64(max(extent, 1))
	}
	return n
}

// AddressMode selects the value of a texture outside of its texels.
type AddressMode uint8

const (
	Wrap   AddressMode = iota // repeat; only with normalized coordinates, else as clamp
	Clamp                     // repeat the last texel
	Mirror                    // repeat, mirrored; only with normalized coordinates, else as clamp
	Border                    // return the border colour
)

// Desc describes a texture over an array, or over linear memory when Array
// is 0.
type Desc struct {
	Array Array

	Memory device.Ptr // linear memory: one row of texels, or rows that start Pitch bytes apart
	Layout Layout     // of the linear memory
	Pitch  int64

	Address    [3]AddressMode
	Linear     bool // interpolate between texels with 8-bit weights; otherwise take the nearest
	Normalized bool // each coordinate runs from 0 to 1
	// ReadNormalized converts 8-bit and 16-bit integers to floats: unsigned ones to 0..1, signed ones to -1..1.
	ReadNormalized bool
	Border         [4]float32
}

const maxTexels = 1 << 32

// Check returns an error if the description of the texels is invalid, nil otherwise.
func (t *Layout) Check() *device.Error {
	bad := func(format string, args ...any) *device.Error {
		return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf(format, args...)}
	}
	switch {
	case t.Format > F32:
		return bad("texel format %d is unknown", t.Format)
	case t.Channels != 1 && t.Channels != 2 && t.Channels != 4:
		return bad("texels have 1, 2 or 4 channels, not %d", t.Channels)
	case t.Width < 1 || t.Height < 0 || t.Depth < 0 || t.Layers < 0 || t.Height == 0 && t.Depth > 0:
		return bad("extents %d x %d x %d with %d layers make no image", t.Width, t.Height, t.Depth, t.Layers)
	case t.Depth > 0 && t.Layers > 0:
		return bad("a three-dimensional image has no layers; this one has %d", t.Layers)
	case t.Cube && (t.Layers == 0 || t.Layers%6 != 0 || t.Width != t.Height):
		return bad("a cube has six square layers, not %d of %d x %d", t.Layers, t.Width, t.Height)
	case float64(t.Width)*float64(max(t.Height, 1))*float64(max(t.Depth, 1))*float64(max(t.Layers, 1)) > maxTexels:
		return bad("an image has at most %d texels", int64(maxTexels))
	}
	return nil
}

// Check returns an error if the description of a texture with texels t is invalid.
func (d *Desc) Check(t *Layout) *device.Error {
	if t == nil {
		return &device.Error{Code: device.InvalidValue, Detail: "the texels are nil"}
	}
	float := t.Format.Float() || d.ReadNormalized
	switch {
	case d.ReadNormalized && t.Format.Bytes() == 4 && !t.Format.Float():
		return &device.Error{Code: device.InvalidValue, Detail: "32-bit integers cannot be read as normalized floats"}
	case d.Linear && !float:
		return &device.Error{Code: device.InvalidValue, Detail: "linear filtering needs floats, or integers read as normalized floats"}
	case d.Address[0] > Border || d.Address[1] > Border || d.Address[2] > Border:
		return &device.Error{Code: device.InvalidValue, Detail: "the address mode is unknown"}
	}
	return nil
}
