package sim

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/interp"
	"github.com/reprise-gpu/reprise/internal/ptx"
)

// FunctionInfo describes the declarations and the needs of a kernel.
type FunctionInfo struct {
	Name       string
	Params     []interp.Param
	ParamBytes int
	Registers  int       // 32-bit registers per thread: an estimate
	Shared     int       // static shared memory, bytes per block
	Local      int       // bytes per thread
	Const      int       // bytes of constant variables of the module
	MaxThreads int       // maximum threads per block from .maxntid or .reqntid; 0 if there is neither
	ReqThreads [3]uint32 // the required block extents; zeros if any are accepted
	Target     int       // target of its module, 75 for sm_75
}

// FunctionInfo describes a kernel. It costs no virtual time.
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

// Occupancy returns the number of resident blocks of a kernel per multiprocessor, for blocks of the given number of
// threads and bytes of dynamic shared memory. It is 0 if none fits. It costs no virtual time.
func (d *Device) Occupancy(h device.Function, threads, shared int) (int, error) {
	k, err := d.funcs.Get(h)
	switch {
	case err != nil:
		return 0, err.In("Occupancy")
	case threads < 1 || shared < 0:
		return 0, (&device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("blocks of %d threads and %d bytes; want 1 thread or more, 0 bytes or more", threads, shared)}).In("Occupancy")
	}
	blocks, _ := d.profile.Limits.Occupancy(threads, k.code.Registers(), shared+k.code.SharedStatic())
	return blocks, nil
}

// Kernels lists the names of a module's kernels, in the order of its text. It costs no virtual time.
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
