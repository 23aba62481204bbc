//go:build cuda && cgo

package simabi

// #include <cuda.h>
// #include <stdlib.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

var functions handles[*function]

// function is a kernel of a module.
type function struct {
	handle handle
	module *module
	sim    device.Function
	info   sim.FunctionInfo
	name   *C.char // allocated for C on the first query; freed with the module
	tuning tuning

	prepared prepared
}

// tuning contains the attributes of a function that a program may set.
type tuning struct {
	dynamic  int // maximum dynamic shared memory of a launch, bytes
	carveout int // percent of L1 for shared memory; it has no effect
	portable int // whether clusters above the portable size are allowed; there are no clusters
	policy   int // how clusters are scheduled
}

// newFunction returns a kernel with a handle and the default attributes.
func newFunction(m *module, h device.Function) (*function, error) {
	info, err := m.context.sim.FunctionInfo(h)
	if err != nil {
		return nil, err
	}
	f := &function{module: m, sim: h, info: info}
	f.tuning = tuning{dynamic: max(0, sharedPerBlock-info.Shared), carveout: C.CU_SHAREDMEM_CARVEOUT_DEFAULT}
	f.handle = functions.add(f)
	return f, nil
}

func (f *function) owner() *context { return f.module.context }

// forget invalidates the handle.
func (f *function) forget() {
	_, _ = functions.remove(f.handle)
	C.free(unsafe.Pointer(f.name))
}

// functionNamed returns the function of a handle. The kernel of a library stands
// for its function in the current context.
func functionNamed(h handle) (*function, error) {
	k, err := libraryKernels.get(h)
	if err != nil {
		return functions.get(h)
	}
	return k.here(driver.caller)
}

// functionOf returns the function of a handle, if it is in the context.
func (c *context) functionOf(h C.CUfunction) (*function, error) {
	f, err := functionNamed(of(unsafe.Pointer(h)))
	if err == nil && f.module.context != c {
		err = invalidHandle
	}
	return f, err
}

// fits returns an error if a launch may not request that much dynamic shared
// memory.
func (f *function) fits(shared uint32) error {
	if int(shared) > f.tuning.dynamic {
		return invalidValue
	}
	return nil
}

// maxThreads returns the largest number of threads in a block of the function: the limit of the GPU and of the kernel's
// .maxntid, reduced by whole warps until the registers of a block fit in a multiprocessor.
func (f *function) maxThreads() int {
	limits := &f.module.context.gpu.profile.Limits
	n := limits.ThreadsPerBlock
	if f.info.MaxThreads > 0 {
		n = min(n, f.info.MaxThreads)
	}
	for n > warpSize {
		if blocks, _ := limits.Occupancy(n, f.info.Registers, 0); blocks > 0 {
			break
		}
		n = (n - 1) / warpSize * warpSize
	}
	return n
}

const warpSize = 32

// attribute returns an attribute of the function.
func (f *function) attribute(a C.CUfunction_attribute) (int, error) {
	switch a {
	case C.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		return f.maxThreads(), nil
	case C.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
		return f.info.Shared, nil
	case C.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
		return f.info.Const, nil
	case C.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
		return f.info.Local, nil
	case C.CU_FUNC_ATTRIBUTE_NUM_REGS:
		return f.info.Registers, nil
	case C.CU_FUNC_ATTRIBUTE_PTX_VERSION:
		return f.info.Target, nil
	case C.CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		return f.module.context.gpu.arch(), nil
	case C.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		return f.tuning.dynamic, nil
	case C.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		return f.tuning.carveout, nil
	case C.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		return f.tuning.portable, nil
	case C.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		return f.tuning.policy, nil
	case C.CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, C.CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET,
		C.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, C.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
		C.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
		return 0, nil
	}
	return 0, invalidValue
}

// set changes an attribute that can be changed.
func (f *function) set(a C.CUfunction_attribute, v int) error {
	inRange := func(low, high int, at *int) error {
		if v < low || v > high {
			return invalidValue
		}
		*at = v
		return nil
	}
	switch a {
	case C.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		return inRange(0, f.module.context.gpu.profile.Limits.SharedPerBlock-f.info.Shared, &f.tuning.dynamic)
	case C.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		return inRange(C.CU_SHAREDMEM_CARVEOUT_DEFAULT, C.CU_SHAREDMEM_CARVEOUT_MAX_SHARED, &f.tuning.carveout)
	case C.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		return inRange(0, 1, &f.tuning.portable)
	case C.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		return inRange(C.CU_CLUSTER_SCHEDULING_POLICY_DEFAULT, C.CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING, &f.tuning.policy)
	case C.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, C.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
		C.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
		return notSupported
	}
	return invalidValue
}

// onFunction is call for a function about a kernel in the current context.
func onFunction(h C.CUfunction, body func(*function) error) C.CUresult {
	return inContext(func(c *context) error {
		f, err := c.functionOf(h)
		if err != nil {
			return err
		}
		return body(f)
	})
}

//export sim_cuFuncGetAttribute
func sim_cuFuncGetAttribute(value *C.int, a C.CUfunction_attribute, h C.CUfunction) C.CUresult {
	return onFunction(h, func(f *function) error {
		if value == nil {
			return invalidValue
		}
		v, err := f.attribute(a)
		if err == nil {
			*value = C.int(v)
		}
		return err
	})
}

// sim_cuFuncSetAttribute permits more than 48 KiB of dynamic shared memory with
// CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES. Other attributes are stored without effect.
//
//export sim_cuFuncSetAttribute
func sim_cuFuncSetAttribute(h C.CUfunction, a C.CUfunction_attribute, value C.int) C.CUresult {
	return onFunction(h, func(f *function) error { return f.set(a, int(value)) })
}

//export sim_cuFuncSetCacheConfig
func sim_cuFuncSetCacheConfig(h C.CUfunction, config C.CUfunc_cache) C.CUresult {
	return onFunction(h, func(*function) error { return checkCache(config) })
}

//export sim_cuFuncSetSharedMemConfig
func sim_cuFuncSetSharedMemConfig(h C.CUfunction, config C.CUsharedconfig) C.CUresult {
	return onFunction(h, func(*function) error { return checkBanks(config) })
}

//export sim_cuFuncGetModule
func sim_cuFuncGetModule(mod *C.CUmodule, h C.CUfunction) C.CUresult {
	return onFunction(h, func(f *function) error {
		if mod == nil {
			return invalidValue
		}
		f.module.handle.put(unsafe.Pointer(mod))
		return nil
	})
}

// sim_cuFuncGetName returns memory of the driver, which is valid until the module is unloaded.
//
//export sim_cuFuncGetName
func sim_cuFuncGetName(name **C.char, h C.CUfunction) C.CUresult {
	return onFunction(h, func(f *function) error {
		if name == nil {
			return invalidValue
		}
		if f.name == nil {
			f.name = C.CString(f.info.Name)
		}
		*name = f.name
		return nil
	})
}

//export sim_cuFuncGetParamInfo
func sim_cuFuncGetParamInfo(h C.CUfunction, i C.size_t, offset, size *C.size_t) C.CUresult {
	return onFunction(h, func(f *function) error { return f.parameter(i, offset, size) })
}

// parameter stores the offset and size of a parameter in the parameter block. size
// may be nil.
func (f *function) parameter(i C.size_t, offset, size *C.size_t) error {
	if offset == nil || i >= C.size_t(len(f.info.Params)) {
		return invalidValue
	}
	p := f.info.Params[i]
	*offset = C.size_t(p.Offset)
	if size != nil {
		*size = C.size_t(p.Size)
	}
	return nil
}

// Modules are loaded whole.

//export sim_cuFuncIsLoaded
func sim_cuFuncIsLoaded(state *C.CUfunctionLoadingState, h C.CUfunction) C.CUresult {
	return onFunction(h, func(*function) error {
		if state == nil {
			return invalidValue
		}
		*state = C.CU_FUNCTION_LOADING_STATE_LOADED
		return nil
	})
}

//export sim_cuFuncLoad
func sim_cuFuncLoad(h C.CUfunction) C.CUresult {
	return onFunction(h, func(*function) error { return nil })
}
