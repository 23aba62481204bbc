package sim

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/texel"
)

// Kinds of references that a module can declare.
const (
	TextureReference = "texref"
	SurfaceReference = "surfref"
)

// Reference returns the handle of a texture or surface reference of a module, by name. The kind is TextureReference
// or SurfaceReference. BindTextureReference and BindSurfaceReference take the handle.
func (d *Device) Reference(h device.Module, name, kind string) (device.Ptr, error) {
	m, bad := d.modules.Get(h)
	if err := first(d.enter(d.profile.Host.Query), bad); err != nil {
		return 0, err.In("Reference")
	}
	addr, err := m.code.Reference(name, kind)
	if err != nil {
		return 0, (&device.Error{Code: device.NotFound, Detail: "module " + m.name, Err: err}).In("Reference")
	}
	return device.Ptr(addr), nil
}

// BindTextureReference binds a texture to a reference for later launches. It waits for all work, which may use the
// previous binding.
func (d *Device) BindTextureReference(ref device.Ptr, t texel.Desc) error {
	const call = "BindTextureReference"
	texture, bad := d.texture(&t)
	if err := first(d.enter(0), bad); err != nil {
		return err.In(call)
	}
	if err := d.drain(); err != nil {
		return err.In(call)
	}
	d.memory.BindTextureAt(uint64(ref), texture)
	return nil
}

// BindSurfaceReference binds an array to a surface reference for later launches. It waits for all work.
func (d *Device) BindSurfaceReference(ref device.Ptr, h texel.Array) error {
	const call = "BindSurfaceReference"
	a, bad := d.arrays.Get(h)
	if err := first(d.enter(0), bad); err != nil {
		return err.In(call)
	}
	if err := d.drain(); err != nil {
		return err.In(call)
	}
	d.memory.BindSurfaceAt(uint64(ref), a.image())
	return nil
}
