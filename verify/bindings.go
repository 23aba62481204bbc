package verify

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/order"
	"github.com/reprise-gpu/reprise/ir"
)

// bindings are the buffers, modules and host calls of a graph on a Recorder, which runs nothing.
type bindings struct {
	rec     *order.Recorder
	graph   *ir.Graph
	pointer []device.Ptr
	modules []device.Module
}

func newBindings(rec *order.Recorder, g *ir.Graph) *bindings {
	return &bindings{rec, g, make([]device.Ptr, len(g.Buffers)), make([]device.Module, len(g.Modules))}
}

func (b *bindings) Check(device.Device, *ir.Graph) error { return nil }

func (b *bindings) Pointer(id ir.BufferID) device.Ptr { return b.pointer[id] }

func (b *bindings) Bind(id ir.BufferID, p device.Ptr) { b.pointer[id] = p }

func (b *bindings) HostFunc(ir.OpID) func() error { return func() error { return nil } }

// Allocate allocates a buffer in memory of its kind.
func (b *bindings) Allocate(id ir.BufferID) (err error) {
	buf := &b.graph.Buffers[id]
	switch {
	case b.pointer[id] != 0:
	case buf.Place.Kind == ir.OnDevice:
		b.pointer[id], err = b.rec.Alloc(buf.Size())
	case buf.Place.Kind == ir.Managed:
		b.pointer[id], _, err = b.rec.AllocManaged(buf.Size())
	default:
		b.pointer[id], _, err = b.rec.AllocHost(buf.Size())
	}
	return err
}

// Module loads a module at its first use. A Recorder reads no PTX.
func (b *bindings) Module(id ir.ModuleID) device.Module {
	if b.modules[id] == 0 {
		b.modules[id], _ = b.rec.LoadModule(b.graph.Modules[id].Name, b.graph.Modules[id].Source)
	}
	return b.modules[id]
}
