//go:build cuda && cgo

package simabi

/*
#include <cuda.h>
#include <stdlib.h>
*/
import "C"

import (
	"os"
	"slices"
	"unsafe"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

var (
	libraries      handles[*library]
	libraryKernels handles[*libraryKernel]
)

// Libraries separate code from contexts:
//
//	library ── modules[context id] ──► module ──► function      (one per context, loaded on first use)
//	   └────── kernels[name] ────────► libraryKernel            (one per library; its handle is valid in every context)
//
// A libraryKernel can be passed wherever a CUfunction is expected: functionNamed maps it to the function in the current
// context. Attributes that are set for a kernel apply to one GPU and are repeated in each context of that GPU.

// library is code that belongs to no context. Each context loads a module of it on
// first use.
type library struct {
	handle  handle
	name    string
	image   []byte
	jit     *jit               // the compiler options for each context
	modules map[uint64]*module // by the context's id
	entries []string           // names of kernels, in the order of the text
	kernels map[string]*libraryKernel
}

// libraryKernel is a kernel of a library. It is a separate function in each
// context.
type libraryKernel struct {
	handle  handle
	library *library
	name    string
	forC    *C.char
	set     map[setting]int
}

// setting is an attribute of a kernel on one GPU.
type setting struct {
	gpu       *gpu
	attribute C.CUfunction_attribute
}

func (l *library) owner() *context       { return nil }
func (k *libraryKernel) owner() *context { return nil }

// newLibrary checks an image as compiled for the first GPU. Its error has the
// compiler's message.
func newLibrary(name string, image []byte) (*library, error) {
	text, err := detectPTX(image, driver.gpus[0].arch())
	if err != nil {
		return nil, err
	}
	tree, err := ptx.Parse(name, text)
	if err != nil {
		return nil, rejected(name, err)
	}
	l := &library{name: name, image: image, modules: map[uint64]*module{}, kernels: map[string]*libraryKernel{}}
	for _, f := range tree.Funcs {
		if f.Entry && !f.Extern {
			l.entries = append(l.entries, f.Name)
		}
	}
	l.handle = libraries.add(l)
	return l, nil
}

// in returns the library's module in a context.
func (l *library) in(c *context) (*module, error) {
	if m := l.modules[c.id]; m != nil {
		return m, nil
	}
	m, err := c.load(l.name, l.image, l.jit)
	if err != nil {
		return nil, err
	}
	m.library = l
	l.modules[c.id] = m
	return m, nil
}

// here returns the library's module in the thread's current context.
func (l *library) here(t *thread) (*module, error) {
	c, err := t.context()
	if err != nil {
		return nil, err
	}
	return l.in(c)
}

// kernel returns the kernel of that name, always with the same handle.
func (l *library) kernel(name string) (*libraryKernel, error) {
	if !slices.Contains(l.entries, name) {
		return nil, status(C.CUDA_ERROR_NOT_FOUND)
	}
	k := l.kernels[name]
	if k == nil {
		k = &libraryKernel{library: l, name: name, set: map[setting]int{}}
		k.handle = libraryKernels.add(k)
		l.kernels[name] = k
	}
	return k, nil
}

// unload invalidates the handles first, since unloading a module lets other threads
// run.
func (l *library) unload() {
	_, _ = libraries.remove(l.handle)
	for _, k := range l.kernels {
		_, _ = libraryKernels.remove(k.handle)
		C.free(unsafe.Pointer(k.forC))
	}
	for id, m := range l.modules {
		if c := m.context; c.id == id && !c.destroyed {
			_ = c.sim.UnloadModule(m.sim) // the error of a failed context: destroying the context frees the module
			m.forget()
		}
	}
}

// in returns the kernel's function in a context, with the attributes set for its
// GPU.
func (k *libraryKernel) in(c *context) (*function, error) {
	m, err := k.library.in(c)
	if err != nil {
		return nil, err
	}
	if f := m.functions[k.name]; f != nil {
		return f, nil
	}
	f, err := m.function(k.name)
	if err != nil {
		return nil, err
	}
	for s, v := range k.set {
		if s.gpu == c.gpu {
			_ = f.set(s.attribute, v) // it was checked
		}
	}
	return f, nil
}

// here returns the kernel's function in the thread's current context.
func (k *libraryKernel) here(t *thread) (*function, error) {
	c, err := t.context()
	if err != nil {
		return nil, err
	}
	return k.in(c)
}

// on returns the kernel's function in a context of a GPU: the current one, or the
// primary.
func (k *libraryKernel) on(t *thread, dev C.CUdevice) (*function, error) {
	g, err := gpuOf(dev)
	if err != nil {
		return nil, err
	}
	if c := t.top(); c != nil && c.gpu == g && !c.destroyed {
		return k.in(c)
	}
	if !g.primary.active() {
		return nil, invalidContext
	}
	return k.in(g.primary.context)
}

// onLibrary is call for a function of a library.
func onLibrary(h C.CUlibrary, body func(*thread, *library) error) C.CUresult {
	return call(func(t *thread) error {
		l, err := libraries.get(of(unsafe.Pointer(h)))
		if err != nil {
			return err
		}
		return body(t, l)
	})
}

// onKernel is call for a function of a library's kernel.
func onKernel(h C.CUkernel, body func(*thread, *libraryKernel) error) C.CUresult {
	return call(func(t *thread) error {
		k, err := libraryKernels.get(of(unsafe.Pointer(h)))
		if err != nil {
			return err
		}
		return body(t, k)
	})
}

func checkLibraryOptions(n C.uint, options *C.CUlibraryOption) error {
	if n > 0 && options == nil {
		return invalidValue
	}
	for _, o := range unsafe.Slice(options, n) {
		if o >= C.CU_LIBRARY_NUM_OPTIONS {
			return invalidValue
		}
	}
	return nil
}

// sim_cuLibraryLoadData parses the image at once, for the messages of the compiler, and compiles it in each context on
// first use.
//
//export sim_cuLibraryLoadData
func sim_cuLibraryLoadData(lib *C.CUlibrary, code unsafe.Pointer, jitOptions *C.CUjit_option, jitValues *unsafe.Pointer, jitN C.uint,
	options *C.CUlibraryOption, values *unsafe.Pointer, n C.uint) C.CUresult {
	return call(func(*thread) error {
		if code == nil {
			return invalidValue
		}
		return loadLibrary(lib, "image", imageAt(code), jitN, jitOptions, jitValues, n, options)
	})
}

//export sim_cuLibraryLoadFromFile
func sim_cuLibraryLoadFromFile(lib *C.CUlibrary, file *C.char, jitOptions *C.CUjit_option, jitValues *unsafe.Pointer, jitN C.uint,
	options *C.CUlibraryOption, values *unsafe.Pointer, n C.uint) C.CUresult {
	return call(func(*thread) error {
		if file == nil {
			return invalidValue
		}
		name := C.GoString(file)
		image, err := os.ReadFile(name)
		if err != nil {
			return status(C.CUDA_ERROR_FILE_NOT_FOUND)
		}
		return loadLibrary(lib, name, image, jitN, jitOptions, jitValues, n, options)
	})
}

// loadLibrary creates a library and stores its handle and the messages of the compiler.
func loadLibrary(lib *C.CUlibrary, name string, image []byte, jitN C.uint, jitOptions *C.CUjit_option, jitValues *unsafe.Pointer,
	n C.uint, options *C.CUlibraryOption) error {
	j, err := newJIT(jitN, jitOptions, jitValues)
	if err != nil {
		return err
	}
	if err := checkLibraryOptions(n, options); err != nil || lib == nil {
		return invalidValue
	}
	l, err := newLibrary(name, image)
	if j.report(err); err != nil {
		return err
	}
	l.jit = &jit{maxRegisters: j.maxRegisters}
	l.handle.put(unsafe.Pointer(lib))
	return nil
}

// sim_cuLibraryUnload unloads the library's modules in all contexts.
//
//export sim_cuLibraryUnload
func sim_cuLibraryUnload(h C.CUlibrary) C.CUresult {
	return onLibrary(h, func(_ *thread, l *library) error {
		l.unload()
		return nil
	})
}

//export sim_cuLibraryGetKernel
func sim_cuLibraryGetKernel(out *C.CUkernel, h C.CUlibrary, name *C.char) C.CUresult {
	return onLibrary(h, func(_ *thread, l *library) error {
		if out == nil || name == nil {
			return invalidValue
		}
		k, err := l.kernel(C.GoString(name))
		if err != nil {
			return err
		}
		k.handle.put(unsafe.Pointer(out))
		return nil
	})
}

//export sim_cuLibraryGetKernelCount
func sim_cuLibraryGetKernelCount(n *C.uint, h C.CUlibrary) C.CUresult {
	return onLibrary(h, func(_ *thread, l *library) error {
		if n == nil {
			return invalidValue
		}
		*n = C.uint(len(l.entries))
		return nil
	})
}

//export sim_cuLibraryEnumerateKernels
func sim_cuLibraryEnumerateKernels(out *C.CUkernel, n C.uint, h C.CUlibrary) C.CUresult {
	return onLibrary(h, func(_ *thread, l *library) error {
		if out == nil {
			return invalidValue
		}
		for i := range min(int(n), len(l.entries)) {
			k, err := l.kernel(l.entries[i])
			if err != nil {
				return err
			}
			k.handle.put(unsafe.Add(unsafe.Pointer(out), uintptr(i)*unsafe.Sizeof(*out)))
		}
		return nil
	})
}

//export sim_cuLibraryGetModule
func sim_cuLibraryGetModule(mod *C.CUmodule, h C.CUlibrary) C.CUresult {
	return onLibrary(h, func(t *thread, l *library) error {
		if mod == nil {
			return invalidValue
		}
		m, err := l.here(t)
		if err != nil {
			return err
		}
		m.handle.put(unsafe.Pointer(mod))
		return nil
	})
}

//export sim_cuLibraryGetGlobal
func sim_cuLibraryGetGlobal(p *C.CUdeviceptr, bytes *C.size_t, h C.CUlibrary, name *C.char) C.CUresult {
	return onLibrary(h, func(t *thread, l *library) error {
		m, err := l.here(t)
		if err != nil {
			return err
		}
		return m.global(p, bytes, name)
	})
}

// sim_cuLibraryGetManaged returns CUDA_ERROR_NOT_FOUND: the simulator has no managed variables.
//
//export sim_cuLibraryGetManaged
func sim_cuLibraryGetManaged(p *C.CUdeviceptr, bytes *C.size_t, h C.CUlibrary, name *C.char) C.CUresult {
	return onLibrary(h, func(*thread, *library) error {
		if name == nil || p == nil && bytes == nil {
			return invalidValue
		}
		return status(C.CUDA_ERROR_NOT_FOUND)
	})
}

//export sim_cuKernelGetFunction
func sim_cuKernelGetFunction(out *C.CUfunction, h C.CUkernel) C.CUresult {
	return onKernel(h, func(t *thread, k *libraryKernel) error {
		if out == nil {
			return invalidValue
		}
		f, err := k.here(t)
		if err != nil {
			return err
		}
		f.handle.put(unsafe.Pointer(out))
		return nil
	})
}

//export sim_cuKernelGetAttribute
func sim_cuKernelGetAttribute(value *C.int, a C.CUfunction_attribute, h C.CUkernel, dev C.CUdevice) C.CUresult {
	return onKernel(h, func(t *thread, k *libraryKernel) error {
		if value == nil {
			return invalidValue
		}
		f, err := k.on(t, dev)
		if err != nil {
			return err
		}
		v, err := f.attribute(a)
		if err == nil {
			*value = C.int(v)
		}
		return err
	})
}

// sim_cuKernelSetAttribute sets an attribute for all contexts of a GPU, present and future.
//
//export sim_cuKernelSetAttribute
func sim_cuKernelSetAttribute(a C.CUfunction_attribute, value C.int, h C.CUkernel, dev C.CUdevice) C.CUresult {
	return onKernel(h, func(t *thread, k *libraryKernel) error {
		f, err := k.on(t, dev)
		if err != nil {
			return err
		}
		if err := f.set(a, int(value)); err != nil {
			return err
		}
		k.set[setting{f.module.context.gpu, a}] = int(value)
		return nil
	})
}

//export sim_cuKernelSetCacheConfig
func sim_cuKernelSetCacheConfig(h C.CUkernel, config C.CUfunc_cache, dev C.CUdevice) C.CUresult {
	return onKernel(h, func(*thread, *libraryKernel) error {
		if _, err := gpuOf(dev); err != nil {
			return err
		}
		return checkCache(config)
	})
}

//export sim_cuKernelGetName
func sim_cuKernelGetName(name **C.char, h C.CUkernel) C.CUresult {
	return onKernel(h, func(_ *thread, k *libraryKernel) error {
		if name == nil {
			return invalidValue
		}
		if k.forC == nil {
			k.forC = C.CString(k.name)
		}
		*name = k.forC
		return nil
	})
}

//export sim_cuKernelGetParamInfo
func sim_cuKernelGetParamInfo(h C.CUkernel, i C.size_t, offset, size *C.size_t) C.CUresult {
	return onKernel(h, func(t *thread, k *libraryKernel) error {
		f, err := k.here(t)
		if err != nil {
			return err
		}
		return f.parameter(i, offset, size)
	})
}
