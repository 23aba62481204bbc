package sim

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/interp"
	"github.com/reprise-gpu/reprise/internal/texel"
)

// array holds texels in device memory, with rows that start pitch bytes apart.
type array struct {
	layout texel.Layout
	mem    device.Ptr
	pitch  int64
}

// rowAlign keeps the widest surface access aligned in every row.
const rowAlign = 16

func (a *array) rowBytes() int64 {
	return int64(a.layout.Width * a.layout.Channels * a.layout.Format.Bytes())
}

func (a *array) rows() int64 {
	t := &a.layout
	return int64(max(t.Height, 1)) * int64(max(t.Depth, 1)) * int64(max(t.Layers, 1))
}

// CreateArray allocates texels.
func (d *Device) CreateArray(t texel.Layout) (texel.Array, error) {
	if err := first(d.enter(0), t.Check()); err != nil {
		return 0, err.In("CreateArray")
	}
	a := &array{layout: t}
	a.pitch = (a.rowBytes() + rowAlign - 1) &^ (rowAlign - 1)
	var err error
	if a.mem, err = d.Alloc(a.pitch * a.rows()); err != nil {
		return 0, err
	}
	return d.arrays.Add(a), nil
}

// DestroyArray waits for all work and frees the texels.
func (d *Device) DestroyArray(h texel.Array) error {
	a, bad := d.arrays.Get(h)
	if err := first(d.enter(0), bad); err != nil {
		return err.In("DestroyArray")
	}
	if err := d.Free(a.mem); err != nil {
		return err
	}
	_, bad = d.arrays.Remove(h)
	return bad.In("DestroyArray")
}

// WriteArray copies rows into place.
func (d *Device) WriteArray(h texel.Array, src []byte) error {
	a, bad := d.arrays.Get(h)
	if err := first(d.enter(0), bad, a.whole(len(src))); err != nil {
		return err.In("WriteArray")
	}
	padded := make([]byte, a.pitch*a.rows())
	for y := range a.rows() {
		copy(padded[y*a.pitch:], src[y*a.rowBytes():][:a.rowBytes()])
	}
	return d.Write(a.mem, padded)
}

// ReadArray copies rows out.
func (d *Device) ReadArray(dst []byte, h texel.Array) error {
	a, bad := d.arrays.Get(h)
	if err := first(d.enter(0), bad, a.whole(len(dst))); err != nil {
		return err.In("ReadArray")
	}
	padded := make([]byte, a.pitch*a.rows())
	if err := d.Read(padded, a.mem); err != nil {
		return err
	}
	for y := range a.rows() {
		copy(dst[y*a.rowBytes():][:a.rowBytes()], padded[y*a.pitch:])
	}
	return nil
}

// ArrayRegion returns the location and the description of an array's texels, for copies of parts of it. Slices are
// layers or depth.
func (d *Device) ArrayRegion(h texel.Array) (Region, texel.Layout, error) {
	a, bad := d.arrays.Get(h)
	if err := first(d.enter(0), bad); err != nil {
		return Region{}, texel.Layout{}, err.In("ArrayRegion")
	}
	return Region{At: a.mem, Pitch: a.pitch, Slice: a.pitch * int64(max(a.layout.Height, 1))}, a.layout, nil
}

// whole returns an error if n bytes are not all texels of a. It returns nil if a is nil, because the handle was
// refused already.
func (a *array) whole(n int) *device.Error {
	if a != nil && int64(n) != a.layout.Bytes() {
		return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("%d bytes for an array of %d", n, a.layout.Bytes())}
	}
	return nil
}

// image returns the interpreter's description of the array.
func (a *array) image() interp.Image {
	t := &a.layout
	return interp.Image{
		Base: uint64(a.mem), Pitch: uint64(a.pitch), Slice: uint64(a.pitch) * uint64(max(t.Height, 1)),
		Width: t.Width, Height: t.Height, Depth: t.Depth, Layers: t.Layers, Cube: t.Cube,
		Format: interp.TexelFormat(t.Format), Channels: t.Channels,
	}
}

// CreateTexture creates a texture over an array or over linear memory.
func (d *Device) CreateTexture(t texel.Desc) (texel.Texture, error) {
	texture, err := d.texture(&t)
	if err := first(d.enter(0), err); err != nil {
		return 0, err.In("CreateTexture")
	}
	h := d.memory.BindTexture(texture)
	d.live.Textures++
	return texel.Texture(h), nil
}

// texture returns the interpreter's description of a texture.
func (d *Device) texture(t *texel.Desc) (interp.Texture, *device.Error) {
	a, err := d.texels(t)
	if err == nil {
		err = t.Check(&a.layout)
	}
	if err != nil {
		return interp.Texture{}, err
	}
	texture := interp.Texture{
		Image: a.image(), Plain: t.Array == 0 && a.layout.Height == 0,
		Linear: t.Linear, Normalized: t.Normalized, ReadNormalized: t.ReadNormalized, Border: t.Border,
	}
	for k, mode := range t.Address {
		texture.Address[k] = interp.AddressMode(mode)
	}
	return texture, nil
}

// texels returns the array, or the linear memory as an array, that a texture is made over.
func (d *Device) texels(t *texel.Desc) (*array, *device.Error) {
	if t.Array != 0 {
		return d.arrays.Get(t.Array)
	}
	if err := t.Layout.Check(); err != nil {
		return nil, err
	}
	a := &array{layout: t.Layout, mem: t.Memory, pitch: t.Pitch}
	if a.pitch == 0 {
		a.pitch = a.rowBytes()
	}
	switch {
	case t.Layout.Depth > 0 || t.Layout.Layers > 0:
		return nil, &device.Error{Code: device.InvalidValue, Detail: "a texture over linear memory has one or two dimensions"}
	case a.pitch < a.rowBytes():
		return nil, &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("rows of %d bytes do not fit a pitch of %d", a.rowBytes(), a.pitch)}
	}
	return a, d.within(t.Memory, (a.rows()-1)*a.pitch+a.rowBytes())
}

// DestroyTexture waits for all work, which may use the texture.
func (d *Device) DestroyTexture(h texel.Texture) error {
	return d.unbind("DestroyTexture", uint64(h))
}

// CreateSurface creates a surface over an array.
func (d *Device) CreateSurface(h texel.Array) (texel.Surface, error) {
	a, bad := d.arrays.Get(h)
	if err := first(d.enter(0), bad); err != nil {
		return 0, err.In("CreateSurface")
	}
	s := d.memory.BindSurface(a.image())
	d.live.Textures++
	return texel.Surface(s), nil
}

// DestroySurface waits for all work.
func (d *Device) DestroySurface(h texel.Surface) error {
	return d.unbind("DestroySurface", uint64(h))
}

func (d *Device) unbind(call string, handle uint64) error {
	if err := d.enter(0); err != nil {
		return err.In(call)
	}
	if err := d.drain(); err != nil {
		return err.In(call)
	}
	if !d.memory.Unbind(handle) {
		return (&device.Error{Code: device.InvalidHandle, Detail: fmt.Sprintf("%#x is not a texture or surface, or was destroyed before", handle)}).In(call)
	}
	d.live.Textures--
	return nil
}
