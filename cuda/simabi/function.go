//go:build cuda

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/sim"
)

var functions handles[*function]

// function is a kernel of a module.
type function struct {
	handle handle
	module *module
	sim    device.Function
	info   sim.FunctionInfo
}

func newFunction(m *module, h device.Function) (*function, error) {
	info, err := m.context.sim.FunctionInfo(h)
	if err != nil {
		return nil, err
	}
	f := &function{module: m, sim: h, info: info}
	f.handle = functions.add(f)
	return f, nil
}

func (f *function) owner() *context { return f.module.context }

// functionOf is the function of a handle, if it lives in the context.
func (c *context) functionOf(h C.CUfunction) (*function, error) {
	f, err := functions.get(of(unsafe.Pointer(h)))
	if err == nil && f.module.context != c {
		err = invalidHandle
	}
	return f, err
}
