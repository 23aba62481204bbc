//go:build cuda

package simabi

/*
#include <cuda.h>
#include <stdlib.h>
*/
import "C"

import (
	"os"
	"unsafe"

	"github.com/reprise-gpu/reprise/ptx"
	"github.com/reprise-gpu/reprise/sim/interp"
)

var links handles[*link]

// link is PTX modules on their way to one. What the linker makes of them is PTX, too,
// which is what this driver loads.
type link struct {
	handle  handle
	context *context
	jit     *jit
	inputs  []*ptx.Module
	image   *C.char // for C, from when it is complete
	size    int     // with its NUL
}

func (l *link) owner() *context { return l.context }

// add parses an input.
func (l *link) add(name string, kind C.CUjitInputType, image []byte) error {
	switch kind {
	case C.CU_JIT_INPUT_PTX, C.CU_JIT_INPUT_FATBINARY:
	case C.CU_JIT_INPUT_CUBIN, C.CU_JIT_INPUT_OBJECT, C.CU_JIT_INPUT_LIBRARY:
		return status(C.CUDA_ERROR_NO_BINARY_FOR_GPU)
	default:
		return invalidValue
	}
	text, err := ptxOf(image, l.context.gpu.arch())
	if err != nil {
		return err
	}
	m, err := ptx.Parse(name, text)
	if err != nil {
		return rejected(name, err)
	}
	l.inputs = append(l.inputs, m)
	return nil
}

// complete links what has been added.
func (l *link) complete() error {
	if len(l.inputs) == 0 {
		return invalidValue
	}
	m, err := ptx.Link("linked", interp.Builtin, l.inputs...)
	if err != nil {
		return rejected("linked", err)
	}
	text := m.String()
	l.image, l.size = C.CString(text), len(text)+1
	return nil
}

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
