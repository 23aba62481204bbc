package tracer

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// Trace is a finished recording: the graph, and where its buffers and modules
// are on the device. It is what graphexec.Instantiate binds a schedule to.
type Trace struct {
	Graph *ir.Graph
	t     *Tracer
}

// Allocate gives a buffer memory if it has none, as temporaries of a deferred trace have
// until somebody asks for it.
func (tr *Trace) Allocate(id ir.BufferID) error { return tr.t.back(id) }

// Pointer is the address of a buffer, 0 for one that has no memory; see Allocate.
func (tr *Trace) Pointer(id ir.BufferID) device.Ptr { return tr.t.buffers[id].ptr }

// Module is the loaded module.
func (tr *Trace) Module(id ir.ModuleID) device.Module { return tr.t.modules[id].handle }

// HostFunc is the function a host call runs.
func (tr *Trace) HostFunc(id ir.OpID) func() { return tr.t.hosts[id] }

// Close frees the buffers and modules. Close whatever was instantiated from the
// trace first. Closing twice is harmless.
func (tr *Trace) Close() error {
	var errs []error
	for i := range tr.t.buffers {
		if p := tr.t.buffers[i].ptr; p != 0 {
			if err := tr.t.dev.Free(p); err != nil {
				errs = append(errs, fmt.Errorf("free @%s: %w", tr.t.graph.Buffers[i].Name, err))
			}
			tr.t.buffers[i] = allocation{freed: true, closed: true}
		}
	}
	for _, m := range tr.t.modules {
		if m.handle != 0 {
			if err := tr.t.dev.UnloadModule(m.handle); err != nil {
				errs = append(errs, fmt.Errorf("unload %s: %w", m.requested, err))
			}
			m.handle = 0
		}
	}
	return device.Join(errs...)
}
