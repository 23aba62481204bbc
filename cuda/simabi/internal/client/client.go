//go:build cuda && cgo

// Package client calls the simulated driver from C, as programs do. It serves tests,
// which cannot use cgo themselves. Results are CUresult.
package client

/*
#cgo CFLAGS: -I${SRCDIR}/../../../include
#include <cuda.h>
#include <stdlib.h>

typedef CUresult (*init_t)(unsigned);
typedef CUresult (*create_t)(CUcontext *, unsigned, CUdevice);
typedef CUresult (*on_context_t)(CUcontext);
typedef CUresult (*load_t)(CUmodule *, const void *, unsigned, CUjit_option *, void **);
typedef CUresult (*unload_t)(CUmodule);
typedef CUresult (*function_t)(CUfunction *, CUmodule, const char *);
typedef CUresult (*launch_t)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
typedef CUresult (*sync_t)(void);
typedef CUresult (*proc_t)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
typedef CUresult (*alloc_t)(CUdeviceptr *, size_t);

static CUresult init(void *f) { return ((init_t)f)(0); }
static CUresult create(void *f, CUcontext *c) { return ((create_t)f)(c, 0, 0); }
static CUresult on_context(void *f, CUcontext c) { return ((on_context_t)f)(c); }
static CUresult load(void *f, CUmodule *m, const void *image, unsigned n, CUjit_option *o, void **v) {
	return ((load_t)f)(m, image, n, o, v);
}
static CUresult unload(void *f, CUmodule m) { return ((unload_t)f)(m); }
static CUresult function(void *f, CUfunction *k, CUmodule m, const char *name) { return ((function_t)f)(k, m, name); }
static CUresult sync(void *f) { return ((sync_t)f)(); }
static CUresult alloc(void *f, CUdeviceptr *p, size_t n) { return ((alloc_t)f)(p, n); }
static CUresult proc(void *f, const char *name, void **p, int release, cuuint64_t flags, CUdriverProcAddressQueryResult *why) {
	return ((proc_t)f)(name, p, release, flags, why);
}

// launch calls cuLaunchKernel n times.
static CUresult launch(void *f, int n, CUfunction k, const unsigned *shape, void **params, void **extra) {
	CUresult answer = CUDA_SUCCESS;
	while (n-- > 0 && answer == CUDA_SUCCESS)
		answer = ((launch_t)f)(k, shape[0], shape[1], shape[2], shape[3], shape[4], shape[5], shape[6], NULL, params, extra);
	return answer;
}
*/
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi"
)

// Handles, as C holds them.
type (
	Context  = C.CUcontext
	Module   = C.CUmodule
	Function = C.CUfunction
)

func find(symbol string) unsafe.Pointer {
	f := simabi.Lookup(symbol)
	if f == nil {
		panic("BUG: the simulator has no " + symbol)
	}
	return f
}

// Open initializes the driver and makes a context current to the calling thread.
func Open() (c Context, answer int) {
	if answer = int(C.init(find("cuInit"))); answer == 0 {
		answer = int(C.create(find("cuCtxCreate_v2"), &c))
	}
	return c, answer
}

// Use makes a context current to the calling thread.
func Use(c Context) int { return int(C.on_context(find("cuCtxSetCurrent"), c)) }

// Close destroys a context.
func Close(c Context) int { return int(C.on_context(find("cuCtxDestroy_v2"), c)) }

// Load is cuModuleLoadDataEx. A value is stored in place of a pointer; the values
// are also outputs.
func Load(image []byte, options []uint32, values []uintptr) (m Module, answer int) {
	data := C.CBytes(append(image, 0))
	defer C.free(data)
	n := C.uint(len(options))
	o := (*C.CUjit_option)(C.calloc(C.size_t(n)+1, C.sizeof_CUjit_option))
	v := (*unsafe.Pointer)(C.calloc(C.size_t(n)+1, C.sizeof_size_t))
	defer C.free(unsafe.Pointer(o))
	defer C.free(unsafe.Pointer(v))
	cells := unsafe.Slice((*uintptr)(unsafe.Pointer(v)), len(values))
	copy(unsafe.Slice((*uint32)(unsafe.Pointer(o)), n), options)
	copy(cells, values)
	answer = int(C.load(find("cuModuleLoadDataEx"), &m, data, n, o, v))
	copy(values, cells)
	return m, answer
}

// Unload is cuModuleUnload.
func Unload(m Module) int { return int(C.unload(find("cuModuleUnload"), m)) }

// Kernel is cuModuleGetFunction.
func Kernel(m Module, name string) (f Function, answer int) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	answer = int(C.function(find("cuModuleGetFunction"), &f, m, text))
	return f, answer
}

// Alloc is cuMemAlloc.
func Alloc(bytes int) (p uint64, answer int) {
	var at C.CUdeviceptr
	answer = int(C.alloc(find("cuMemAlloc_v2"), &at, C.size_t(bytes)))
	return uint64(at), answer
}

// Arguments is a kernel's parameters in C memory, which is never freed.
type Arguments struct{ params, extra *unsafe.Pointer }

// Pointers passes each parameter by a pointer to its bytes.
func Pointers(values ...[]byte) Arguments {
	list := (*unsafe.Pointer)(C.calloc(C.size_t(len(values)+1), C.sizeof_size_t))
	for i, v := range values {
		unsafe.Slice(list, len(values))[i] = C.CBytes(v)
	}
	return Arguments{params: list}
}

// Buffer passes all parameters as a block with the given size.
func Buffer(block []byte, size int) Arguments {
	list := (*unsafe.Pointer)(C.calloc(5, C.sizeof_size_t))
	told := (*C.size_t)(C.malloc(C.sizeof_size_t))
	*told = C.size_t(size)
	cells := unsafe.Slice((*uintptr)(unsafe.Pointer(list)), 5)
	cells[0], cells[1] = C.CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT, uintptr(C.CBytes(block))
	cells[2], cells[3] = C.CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT, uintptr(unsafe.Pointer(told))
	return Arguments{extra: list}
}

// Launch calls cuLaunchKernel n times, or until it fails. The shape is the grid, the
// block and the dynamic shared memory.
func Launch(n int, f Function, shape [7]uint32, a Arguments) int {
	return int(C.launch(find("cuLaunchKernel"), C.int(n), f, (*C.uint)(unsafe.Pointer(&shape[0])), a.params, a.extra))
}

// Synchronize is cuCtxSynchronize.
func Synchronize() int { return int(C.sync(find("cuCtxSynchronize"))) }

// ProcAddress is cuGetProcAddress_v2.
func ProcAddress(name string, release int, flags uint64) (found bool, why, answer int) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	var p unsafe.Pointer
	var reason C.CUdriverProcAddressQueryResult
	answer = int(C.proc(find("cuGetProcAddress_v2"), text, &p, C.int(release), C.cuuint64_t(flags), &reason))
	return p != nil, int(reason), answer
}
