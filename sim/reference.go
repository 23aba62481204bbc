package sim

import (
	"github.com/reprise-gpu/reprise/device"
)

// Kinds of references that a module declares.
const (
	TextureReference = "texref"
	SurfaceReference = "surfref"
)

// Reference finds a texture or surface reference of a module by its name; kind is
// TextureReference or SurfaceReference. What it returns names the reference in
// BindTextureReference and BindSurfaceReference.
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

// BindTextureReference makes a texture what a reference stands for in later launches. It waits
// for all work, some of which may sample what the reference stood for before.
func (d *Device) BindTextureReference(ref device.Ptr, t device.TextureDesc) error {
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

// BindSurfaceReference makes an array what a surface reference stands for in later launches.
// It waits for all work.
func (d *Device) BindSurfaceReference(ref device.Ptr, h device.Array) error {
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
