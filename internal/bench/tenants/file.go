package tenants

import (
	"bytes"
	"context"
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// OfGraph returns the program of a saved graph. Its inputs are zero, and the expected outputs are those of a run of the
// program alone.
func OfGraph(name string, g *ir.Graph) Program {
	return Program{Name: name, New: func(dev device.Device, _ uint64, _ int) (*Instance, error) {
		f, err := newFile(dev, g)
		if err != nil {
			return nil, err
		}
		return &Instance{Graph: g, Bound: f, Reset: f.reset, Check: f.check, Close: f.close}, nil
	}}
}

// file is the memory and the modules of a saved graph on a device.
type file struct {
	dev     device.Device
	graph   *ir.Graph
	at      []device.Ptr
	host    [][]byte // of buffers on the host
	own     []device.Ptr
	modules []device.Module
	want    [][]byte // expected outputs, by buffer; nil before the first check
}

func newFile(dev device.Device, g *ir.Graph) (_ *file, err error) {
	f := &file{dev: dev, graph: g, at: make([]device.Ptr, len(g.Buffers)), host: make([][]byte, len(g.Buffers))}
	for i := range g.Modules {
		m, err := dev.LoadModule(g.Modules[i].File, g.Modules[i].Source)
		if err != nil {
			return nil, device.Join(err, f.close())
		}
		f.modules = append(f.modules, m)
	}
	for i := range g.Buffers {
		if err := f.Allocate(ir.BufferID(i)); err != nil {
			return nil, device.Join(fmt.Errorf("buffer %s: %w", g.Buffers[i].Name, err), f.close())
		}
	}
	return f, nil
}

// Pointer implements traced.Bindings, as do the following methods.
func (f *file) Pointer(b ir.BufferID) device.Ptr { return f.at[b] }

// Bind records an address.
func (f *file) Bind(b ir.BufferID, p device.Ptr) { f.at[b] = p }

// Check accepts the graph itself and plans of it, on its own device.
func (f *file) Check(dev device.Device, _ *ir.Graph) error {
	if dev.Info().Instance != f.dev.Info().Instance {
		return device.ErrOtherDevice
	}
	return nil
}

// Allocate allocates zeroed memory for a buffer that has none.
func (f *file) Allocate(b ir.BufferID) (err error) {
	if f.at[b] != 0 {
		return nil
	}
	size := f.graph.Buffers[b].Size()
	switch f.graph.Buffers[b].Place.Kind {
	case ir.OnDevice:
		f.at[b], err = f.dev.Alloc(size)
	case ir.PinnedHost:
		f.at[b], f.host[b], err = f.dev.AllocHost(size)
	default:
		return fmt.Errorf("memory of kind %v: only memory of the device and pinned memory can be made for several tenants", f.graph.Buffers[b].Place.Kind)
	}
	if err == nil {
		f.own = append(f.own, f.at[b])
	}
	return err
}

// Module returns a module.
func (f *file) Module(m ir.ModuleID) device.Module {
	if m < 0 || int(m) >= len(f.modules) {
		return 0
	}
	return f.modules[m]
}

// HostFunc returns nil: a saved graph has no functions.
func (f *file) HostFunc(ir.OpID) func() error { return nil }

// Values of bytes: inputs are zero, and outputs are invalid until they are written.
const (
	zeroByte  = 0
	poisonous = 0xff
)

// reset writes all buffers.
func (f *file) reset() error {
	for i := range f.graph.Buffers {
		value := byte(zeroByte)
		if r := f.graph.Buffers[i].Role; r == ir.Output || r == ir.Temporary {
			value = poisonous
		}
		data := bytes.Repeat([]byte{value}, int(f.graph.Buffers[i].Size()))
		if f.host[i] != nil {
			copy(f.host[i], data)
		} else if err := f.dev.Write(f.at[i], data); err != nil {
			return err
		}
	}
	return nil
}

// check compares the outputs with those of the program alone, which it runs in the first call. It reads the outputs before
// that.
func (f *file) check() error {
	got, err := f.outputs()
	if err != nil {
		return err
	}
	if f.want == nil {
		if f.want, err = f.alone(); err != nil {
			return err
		}
	}
	for i := range got {
		for j := range got[i] {
			if got[i][j] != f.want[i][j] {
				return fmt.Errorf("byte %d of %s is %#x, and %#x in a run alone", j, f.graph.Buffers[i].Name, got[i][j], f.want[i][j])
			}
		}
	}
	return nil
}

// outputs returns the contents of the outputs, by buffer.
func (f *file) outputs() ([][]byte, error) {
	all := make([][]byte, len(f.at))
	for i := range f.graph.Buffers {
		b := &f.graph.Buffers[i]
		switch {
		case b.Role != ir.Output && b.Role != ir.InOut:
		case f.host[i] != nil:
			all[i] = bytes.Clone(f.host[i])
		default:
			all[i] = make([]byte, b.Size())
			if err := f.dev.Read(all[i], f.at[i]); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// alone runs the program alone, one operation after another, and returns its outputs.
func (f *file) alone() (_ [][]byte, err error) {
	if err := f.reset(); err != nil {
		return nil, err
	}
	planned, err := optimizer.Plan(f.graph, optimizer.Options{Strategy: "serial", Streams: true})
	if err != nil {
		return nil, err
	}
	exec, err := graphexec.Instantiate(f.dev, planned.Schedule, traced.Program(f), graphexec.Streams)
	if err != nil {
		return nil, err
	}
	err = exec.Replay(context.Background())
	if err == nil {
		err = f.dev.SynchronizeAll()
	}
	if err = device.Join(err, exec.Close()); err != nil {
		return nil, err
	}
	return f.outputs()
}

func (f *file) close() error {
	var errs []error
	for _, p := range f.own {
		errs = append(errs, f.dev.Free(p))
	}
	for _, m := range f.modules {
		errs = append(errs, f.dev.UnloadModule(m))
	}
	f.own, f.modules = nil, nil
	return device.Join(errs...)
}
