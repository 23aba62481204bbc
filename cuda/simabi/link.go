//go:build cuda && cgo

package simabi

/*
#include <cuda.h>
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"os"
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/fatbin"
	"github.com/reprise-gpu/reprise/internal/interp"
	"github.com/reprise-gpu/reprise/internal/ptx"
)

var links handles[*link]

// cuLinkAddData and cuLinkAddFile parse their inputs and collect the modules. cuLinkComplete links them to one module
// and returns its text, which cuModuleLoadData accepts like any PTX:
//
//	PTX, fatbin, object ─► inputs ────┐
//	archive ─► library ─ pull ────────┴─ ptx.Link ─► text
//
// As in a linker of the host, a module of an archive is used only if it defines a name that is undefined so far.
// pull repeats that until no module is added: O(m) rounds over m modules in the worst case.

// link is a set of PTX modules to be linked.
type link struct {
	handle  handle
	context *context
	jit     *jit
	inputs  []*ptx.Module
	library []*ptx.Module // modules of archives: linked only if they define an undefined name
	image   *C.char       // the result for C, once it is complete
	size    int           // of image, with its NUL
}

func (l *link) owner() *context { return l.context }

// add parses an input.
func (l *link) add(name string, kind C.CUjitInputType, image []byte) error {
	switch kind {
	case C.CU_JIT_INPUT_PTX, C.CU_JIT_INPUT_FATBINARY:
		m, err := l.parse(name, image)
		if err == nil {
			l.inputs = append(l.inputs, m)
		}
		return err
	case C.CU_JIT_INPUT_OBJECT:
		list, err := l.object(name, image)
		if err == nil && len(list) == 0 {
			err = status(C.CUDA_ERROR_NO_BINARY_FOR_GPU)
		}
		l.inputs = append(l.inputs, list...)
		return err
	case C.CU_JIT_INPUT_LIBRARY:
		return l.archive(name, image)
	case C.CU_JIT_INPUT_CUBIN:
		return status(C.CUDA_ERROR_NO_BINARY_FOR_GPU)
	}
	return invalidValue
}

// parse parses an input that is PTX or a fatbin.
func (l *link) parse(name string, image []byte) (*ptx.Module, error) {
	text, err := ptxOf(image, l.context.gpu.arch())
	if err != nil {
		return nil, err
	}
	m, err := ptx.Parse(name, text)
	if err != nil {
		return nil, rejected(name, err)
	}
	return m, nil
}

// object returns the modules of a host object file for which it contains PTX.
func (l *link) object(name string, image []byte) (list []*ptx.Module, err error) {
	fatbins, err := fatbin.InObject(image)
	if err != nil {
		return nil, status(C.CUDA_ERROR_INVALID_IMAGE)
	}
	for _, f := range fatbins {
		m, err := l.parse(name, f)
		switch {
		case errors.Is(err, status(C.CUDA_ERROR_NO_BINARY_FOR_GPU)):
			continue
		case err != nil:
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// archive adds the members of a library that contain PTX. Members without device
// code are for the host.
func (l *link) archive(name string, image []byte) error {
	members, err := fatbin.Members(image)
	if err != nil {
		return status(C.CUDA_ERROR_INVALID_IMAGE)
	}
	for _, member := range members {
		list, err := l.object(name, member)
		if err == nil {
			l.library = append(l.library, list...)
		} else if !errors.Is(err, status(C.CUDA_ERROR_INVALID_IMAGE)) {
			return err
		}
	}
	return nil
}

// pull adds the modules of libraries that define names which the inputs lack, until
// nothing changes.
func (l *link) pull() {
	for again := true; again; {
		again = false
		lacks := undefined(l.inputs)
		for i, m := range l.library {
			if m != nil && defines(m, lacks) {
				l.inputs, l.library[i], again = append(l.inputs, m), nil, true
				break
			}
		}
	}
}

// undefined returns the names that neither the modules that use them nor the
// simulator define.
func undefined(modules []*ptx.Module) map[string]bool {
	lacks := map[string]bool{}
	for _, m := range modules {
		for _, f := range m.Funcs {
			if f.Extern && !interp.Builtin(f.Name) {
				lacks[f.Name] = true
			}
		}
		for _, v := range m.Vars {
			if v.Extern {
				lacks[v.Name] = true
			}
		}
	}
	for _, m := range modules {
		each(m, func(name string) { delete(lacks, name) })
	}
	return lacks
}

// defines reports whether a module defines one of the names.
func defines(m *ptx.Module, names map[string]bool) (found bool) {
	each(m, func(name string) { found = found || names[name] })
	return found
}

// each calls visit with the name of every definition of a module.
func each(m *ptx.Module, visit func(name string)) {
	for _, f := range m.Funcs {
		if !f.Extern {
			visit(f.Name)
		}
	}
	for _, v := range m.Vars {
		if !v.Extern {
			visit(v.Name)
		}
	}
}

// complete links what has been added.
func (l *link) complete() error {
	if len(l.inputs) == 0 {
		return invalidValue
	}
	l.pull()
	m, err := ptx.Link("linked", interp.Builtin, l.inputs...)
	if err != nil {
		return rejected("linked", err)
	}
	l.jit.limitRegisters(m)
	text := m.String()
	l.image, l.size = C.CString(text), len(text)+1
	return nil
}

// onLink is onNamed for a function of a link. It stores the messages of the linker in the buffers of the link's
// options.
func onLink(h C.CUlinkState, body func(*link) error) C.CUresult {
	return onNamed(func(*thread) error {
		l, err := links.get(of(unsafe.Pointer(h)))
		if err != nil {
			return err
		}
		err = body(l)
		l.jit.report(err)
		return err
	})
}

//simabi:also cuLinkCreate
//export sim_cuLinkCreate_v2
func sim_cuLinkCreate_v2(n C.uint, options *C.CUjit_option, values *unsafe.Pointer, out *C.CUlinkState) C.CUresult {
	return inContext(func(c *context) error {
		if out == nil {
			return invalidValue
		}
		j, err := newJIT(n, options, values)
		if err != nil {
			return err
		}
		l := &link{context: c, jit: j}
		l.handle = links.add(l)
		l.handle.put(unsafe.Pointer(out))
		return nil
	})
}

//simabi:also cuLinkAddData
//export sim_cuLinkAddData_v2
func sim_cuLinkAddData_v2(h C.CUlinkState, kind C.CUjitInputType, data unsafe.Pointer, size C.size_t, name *C.char,
	n C.uint, options *C.CUjit_option, values *unsafe.Pointer) C.CUresult {
	return onLink(h, func(l *link) error {
		image, err := bytesAt(data, size)
		if err != nil {
			return err
		}
		if _, err := newJIT(n, options, values); err != nil || size == 0 {
			return invalidValue
		}
		label := "input"
		if name != nil {
			label = C.GoString(name)
		}
		return l.add(label, kind, image)
	})
}

//simabi:also cuLinkAddFile
//export sim_cuLinkAddFile_v2
func sim_cuLinkAddFile_v2(h C.CUlinkState, kind C.CUjitInputType, path *C.char, n C.uint, options *C.CUjit_option, values *unsafe.Pointer) C.CUresult {
	return onLink(h, func(l *link) error {
		if _, err := newJIT(n, options, values); err != nil || path == nil {
			return invalidValue
		}
		name := C.GoString(path)
		image, err := os.ReadFile(name)
		if err != nil {
			return status(C.CUDA_ERROR_FILE_NOT_FOUND)
		}
		return l.add(name, kind, image)
	})
}

// sim_cuLinkComplete returns the linked image in memory of the driver, which is valid until cuLinkDestroy. Further
// calls return the same image.
//
//export sim_cuLinkComplete
func sim_cuLinkComplete(h C.CUlinkState, image *unsafe.Pointer, size *C.size_t) C.CUresult {
	return onLink(h, func(l *link) error {
		if image == nil {
			return invalidValue
		}
		if l.image == nil {
			if err := l.complete(); err != nil {
				return err
			}
		}
		*image = unsafe.Pointer(l.image)
		if size != nil {
			*size = C.size_t(l.size)
		}
		return nil
	})
}

//export sim_cuLinkDestroy
func sim_cuLinkDestroy(h C.CUlinkState) C.CUresult {
	return onNamed(func(*thread) error {
		l, err := links.remove(of(unsafe.Pointer(h)))
		if err == nil {
			C.free(unsafe.Pointer(l.image))
		}
		return err
	})
}
