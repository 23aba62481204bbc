//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"os"
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
)

var modules handles[*module]

// A module is loaded in these steps:
//
//	image in C memory ─ imageAt ─► bytes ─ detectPTX ─► PTX text ─ sim.LoadModuleLimited ─► device.Module
//
// imageAt determines the length of the image from its first bytes. detectPTX selects the PTX for the GPU (see
// image.go). The device parses and checks the text. Kernels are looked up by name when the program requests them, and
// then keep one handle. The compiler's messages go to the buffers of the JIT options (see jit.go).

// module is PTX loaded in one context.
type module struct {
	handle    handle
	context   *context
	sim       device.Module
	functions map[string]*function // those that a program has queried
	library   *library             // the library that it was loaded for, or nil
	refs      refs
}

// load loads a module from an image in the program's memory. Its error has the
// compiler's message; j may be nil.
func (c *context) load(name string, image []byte, j *jit) (*module, error) {
	text, err := detectPTX(image, c.gpu.arch())
	if err != nil {
		return nil, err
	}
	if l := label(); l != "" {
		name = l
	}
	if j == nil {
		j = &jit{}
	}
	h, err := c.sim.LoadModuleLimited(name, text, j.maxRegisters)
	if err != nil {
		return nil, err
	}
	m := &module{context: c, sim: h, functions: map[string]*function{}}
	m.handle = modules.add(m)
	return m, m.describe(j)
}

// describe writes the info log of the compilation.
func (m *module) describe(j *jit) error {
	names, err := m.context.sim.Kernels(m.sim)
	if err != nil || !j.verbose {
		return err
	}
	for _, name := range names {
		f, err := m.function(name)
		if err != nil {
			return err
		}
		j.describe(&f.info)
	}
	return nil
}

func (m *module) owner() *context { return m.context }

// moduleOf returns the module of a handle, if it is in the context.
func (c *context) moduleOf(h C.CUmodule) (*module, error) {
	m, err := modules.get(of(unsafe.Pointer(h)))
	if err == nil && m.context != c {
		err = invalidHandle
	}
	return m, err
}

// function returns the kernel of that name, always with the same handle.
func (m *module) function(name string) (*function, error) {
	h, err := m.context.sim.Function(m.sim, name)
	if err != nil {
		return nil, err
	}
	f := m.functions[name]
	if f == nil {
		if f, err = newFunction(m, h); err != nil {
			return nil, err
		}
		m.functions[name] = f
	}
	return f, nil
}

// unload waits for all work of the context, which may run the module's code, and unloads the module.
func (m *module) unload() error {
	if err := m.context.sim.UnloadModule(m.sim); err != nil {
		return err
	}
	m.forget()
	return nil
}

// forget invalidates the handles.
func (m *module) forget() {
	_, _ = modules.remove(m.handle)
	m.refs.forget()
	for _, f := range m.functions {
		f.forget()
	}
}

// sim_cuModuleLoad loads an image from a file of the program.
//
//export sim_cuModuleLoad
func sim_cuModuleLoad(mod *C.CUmodule, file *C.char) C.CUresult {
	return inContextUnsafe(func(c *context) error {
		if mod == nil || file == nil {
			return invalidValue
		}
		name := C.GoString(file)
		image, err := os.ReadFile(name)
		if err != nil {
			return status(C.CUDA_ERROR_FILE_NOT_FOUND)
		}
		m, err := c.load(name, image, nil)
		if err != nil {
			return err
		}
		m.handle.put(unsafe.Pointer(mod))
		return nil
	})
}

//export sim_cuModuleLoadData
func sim_cuModuleLoadData(mod *C.CUmodule, image unsafe.Pointer) C.CUresult {
	return sim_cuModuleLoadDataEx(mod, image, 0, nil, nil)
}

//export sim_cuModuleLoadDataEx
func sim_cuModuleLoadDataEx(mod *C.CUmodule, image unsafe.Pointer, n C.uint, options *C.CUjit_option, values *unsafe.Pointer) C.CUresult {
	return inContextUnsafe(func(c *context) error {
		if mod == nil || image == nil {
			return invalidValue
		}
		j, err := newJIT(n, options, values)
		if err != nil {
			return err
		}
		m, err := c.load("image", imageAt(image), j)
		if j.report(err); err != nil {
			return err
		}
		m.handle.put(unsafe.Pointer(mod))
		return nil
	})
}

//export sim_cuModuleLoadFatBinary
func sim_cuModuleLoadFatBinary(mod *C.CUmodule, image unsafe.Pointer) C.CUresult {
	return sim_cuModuleLoadDataEx(mod, image, 0, nil, nil)
}

//export sim_cuModuleUnload
func sim_cuModuleUnload(mod C.CUmodule) C.CUresult {
	return onNamedUnsafe(func() error {
		m, err := modules.get(of(unsafe.Pointer(mod)))
		switch {
		case err != nil:
			return err
		case m.library != nil:
			return status(C.CUDA_ERROR_NOT_PERMITTED) // it is unloaded by cuLibraryUnload
		}
		return m.unload()
	})
}

// sim_cuModuleGetFunction returns the same handle for the same name. Names are those in PTX, with C++ mangling.
//
//export sim_cuModuleGetFunction
func sim_cuModuleGetFunction(fn *C.CUfunction, mod C.CUmodule, name *C.char) C.CUresult {
	return inContext(func(c *context) error {
		if fn == nil || name == nil {
			return invalidValue
		}
		m, err := c.moduleOf(mod)
		if err != nil {
			return err
		}
		f, err := m.function(C.GoString(name))
		if err != nil {
			return err
		}
		f.handle.put(unsafe.Pointer(fn))
		return nil
	})
}

// global stores the address and size of a variable. Either result may be nil.
func (m *module) global(p *C.CUdeviceptr, bytes *C.size_t, name *C.char) error {
	if name == nil || p == nil && bytes == nil {
		return invalidValue
	}
	at, size, err := m.context.sim.Global(m.sim, C.GoString(name))
	if err != nil {
		return err
	}
	if p != nil {
		*p = C.CUdeviceptr(at)
	}
	if bytes != nil {
		*bytes = C.size_t(size)
	}
	return nil
}

//export sim_cuModuleGetGlobal_v2
func sim_cuModuleGetGlobal_v2(p *C.CUdeviceptr, bytes *C.size_t, mod C.CUmodule, name *C.char) C.CUresult {
	return inContext(func(c *context) error {
		m, err := c.moduleOf(mod)
		if err != nil {
			return err
		}
		return m.global(p, bytes, name)
	})
}

//export sim_cuModuleGetFunctionCount
func sim_cuModuleGetFunctionCount(n *C.uint, mod C.CUmodule) C.CUresult {
	return inContext(func(c *context) error {
		m, err := c.moduleOf(mod)
		if err != nil {
			return err
		}
		names, err := c.sim.Kernels(m.sim)
		if n == nil || err != nil {
			return invalidValue
		}
		*n = C.uint(len(names))
		return nil
	})
}

//export sim_cuModuleEnumerateFunctions
func sim_cuModuleEnumerateFunctions(out *C.CUfunction, n C.uint, mod C.CUmodule) C.CUresult {
	return inContext(func(c *context) error {
		m, err := c.moduleOf(mod)
		if err != nil {
			return err
		}
		names, err := c.sim.Kernels(m.sim)
		if out == nil || err != nil {
			return invalidValue
		}
		for i, name := range names[:min(int(n), len(names))] {
			f, err := m.function(name)
			if err != nil {
				return err
			}
			f.handle.put(unsafe.Add(unsafe.Pointer(out), uintptr(i)*unsafe.Sizeof(*out)))
		}
		return nil
	})
}

//export sim_cuModuleGetLoadingMode
func sim_cuModuleGetLoadingMode(mode *C.CUmoduleLoadingMode) C.CUresult {
	return call(func(*thread) error {
		if mode == nil {
			return invalidValue
		}
		*mode = C.CU_MODULE_EAGER_LOADING
		return nil
	})
}
