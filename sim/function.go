package sim

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ptx"
	"github.com/reprise-gpu/reprise/sim/interp"
)

// FunctionInfo is what a kernel declares and what it needs.
type FunctionInfo struct {
	Name       string
	Params     []interp.Param
	ParamBytes int
	Registers  int       // 32-bit, of a thread: an estimate
	Shared     int       // static, bytes of a block
	Local      int       // bytes of a thread
	Const      int       // bytes of the module's constant variables
	MaxThreads int       // of a block, as .maxntid or .reqntid says; 0 when they do not
	ReqThreads [3]uint32 // the only block it accepts; zeros when any
	Target     int       // of its module, 75 for sm_75
}

// FunctionInfo describes a kernel. It costs the host nothing.
func (d *Device) FunctionInfo(h device.Function) (FunctionInfo, error) {
	k, err := d.funcs.Get(h)
	if err != nil {
		return FunctionInfo{}, err.In("FunctionInfo")
	}
	return FunctionInfo{
		Name: k.name, Params: k.code.Params(), ParamBytes: k.code.ParamBytes(),
		Registers: k.code.Registers(), Shared: k.code.SharedStatic(), Local: k.code.LocalBytes(),
		Const: constBytes(k.of.tree), MaxThreads: k.code.MaxThreads(), ReqThreads: k.req,
		Target: k.of.tree.TargetNumber(),
	}, nil
}

func constBytes(m *ptx.Module) (n int) {
	for _, v := range m.Statics() {
		if v.Space == ptx.Const && !v.Extern {
			n += int(v.Size())
		}
	}
	return n
}

// Occupancy is how many blocks of a kernel, of that many threads and bytes of
// dynamic shared memory, a multiprocessor holds; 0 when it cannot hold one. It
// costs the host nothing.
func (d *Device) Occupancy(h device.Function, threads, shared int) (int, error) {
	k, err := d.funcs.Get(h)
	switch {
	case err != nil:
		return 0, err.In("Occupancy")
	case threads < 1 || shared < 0:
		return 0, (&device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("blocks of %d threads and %d bytes; want 1 thread or more, 0 bytes or more", threads, shared)}).In("Occupancy")
	}
	return d.profile.Limits.Occupancy(threads, k.code.Registers(), shared+k.code.SharedStatic()), nil
}

// Kernels lists the names of a module's kernels, in the order of its text. It
// costs the host nothing.
func (d *Device) Kernels(h device.Module) ([]string, error) {
	m, err := d.modules.Get(h)
	if err != nil {
		return nil, err.In("Kernels")
	}
	var names []string
	for _, f := range m.tree.Funcs {
		if f.Entry && !f.Extern {
			names = append(names, f.Name)
		}
	}
	return names, nil
}
