//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"
import "github.com/reprise-gpu/reprise/device/model"

// limits are the limits of a context; the index is the CUlimit. The heap and the
// output buffer of kernels get these sizes. The other limits have no effect here,
// but a program reads back what it wrote.
type limits [C.CU_LIMIT_PERSISTING_L2_CACHE_SIZE + 1]C.size_t

// defaultLimits returns the initial limits of a driver (CUDA C++ Programming Guide, cudaLimit* and
// cudaDeviceSetLimit). Sizes are in bytes.
func defaultLimits() limits {
	return limits{
		C.CU_LIMIT_STACK_SIZE:                       1 << 10,
		C.CU_LIMIT_PRINTF_FIFO_SIZE:                 1 << 20,
		C.CU_LIMIT_MALLOC_HEAP_SIZE:                 8 << 20,
		C.CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH:           2,
		C.CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: 2048,
		C.CU_LIMIT_MAX_L2_FETCH_GRANULARITY:         64,
	}
}

// limit returns the variable of a limit, if the GPU has it.
func (c *context) limit(l C.CUlimit) (*C.size_t, error) {
	if int(l) >= len(c.limits) {
		return nil, invalidValue
	}
	major := c.gpu.profile.ComputeMajor
	if l == C.CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH && major >= 9 || l == C.CU_LIMIT_PERSISTING_L2_CACHE_SIZE && major < 8 {
		return nil, status(C.CUDA_ERROR_UNSUPPORTED_LIMIT)
	}
	return &c.limits[l], nil
}

//export sim_cuCtxGetLimit
func sim_cuCtxGetLimit(value *C.size_t, l C.CUlimit) C.CUresult {
	return inContext(func(c *context) error {
		if value == nil {
			return invalidValue
		}
		at, err := c.limit(l)
		if err == nil {
			*value = *at
		}
		return err
	})
}

// sim_cuCtxSetLimit reduces sizes of the stack and of persisting L2 to the maximum, and refuses other values that are
// out of range.
//
//export sim_cuCtxSetLimit
func sim_cuCtxSetLimit(l C.CUlimit, value C.size_t) C.CUresult {
	return inContext(func(c *context) error {
		at, err := c.limit(l)
		if err != nil {
			return err
		}
		const maxFetched, maxDepth, maxStack = 128, 24, 512 << 10 // bytes, levels, bytes of a thread's local memory
		switch {
		case l == C.CU_LIMIT_STACK_SIZE:
			value = min(value, maxStack)
		case (l == C.CU_LIMIT_MALLOC_HEAP_SIZE || l == C.CU_LIMIT_PRINTF_FIFO_SIZE) && uint64(value) > uint64(c.gpu.memory):
			return status(C.CUDA_ERROR_OUT_OF_MEMORY)
		case l == C.CU_LIMIT_MAX_L2_FETCH_GRANULARITY && value > maxFetched,
			l == C.CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH && value > maxDepth:
			return invalidValue
		case l == C.CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
			value = min(value, C.size_t(persistingL2(c.gpu.profile)))
		}
		*at = value
		c.impose(l, value)
		return nil
	})
}

// impose applies a limit to the device, if it has an effect there.
func (c *context) impose(l C.CUlimit, value C.size_t) {
	bytes := min(value, 1<<40) // more than any device has
	switch l {
	case C.CU_LIMIT_MALLOC_HEAP_SIZE:
		c.sim.LimitHeap(int64(bytes))
	case C.CU_LIMIT_PRINTF_FIFO_SIZE:
		c.sim.LimitPrinted(int(bytes))
	}
}

// persistingL2 returns the part of L2 that may be set aside: three quarters (CUDA
// C++ Programming Guide, L2 persistence), or 0 on GPUs without the feature.
func persistingL2(p *model.Profile) int64 {
	if p.ComputeMajor < 8 {
		return 0
	}
	return p.L2Bytes / 4 * 3
}

//export sim_cuCtxResetPersistingL2Cache
func sim_cuCtxResetPersistingL2Cache() C.CUresult {
	return inContext(func(*context) error { return nil })
}

//export sim_cuCtxGetCacheConfig
func sim_cuCtxGetCacheConfig(config *C.CUfunc_cache) C.CUresult {
	return inContext(func(c *context) error {
		if config == nil {
			return invalidValue
		}
		*config = c.cache
		return nil
	})
}

//export sim_cuCtxSetCacheConfig
func sim_cuCtxSetCacheConfig(config C.CUfunc_cache) C.CUresult {
	return inContext(func(c *context) error {
		if err := checkCache(config); err != nil {
			return err
		}
		c.cache = config
		return nil
	})
}

// checkCache returns an error for an unknown preference between L1 and shared memory. Preferences have no effect.
func checkCache(config C.CUfunc_cache) error {
	if config > C.CU_FUNC_CACHE_PREFER_EQUAL {
		return invalidValue
	}
	return nil
}

// The banks of shared memory are four bytes wide on all GPUs since Maxwell. Other
// sizes have no effect.

//export sim_cuCtxGetSharedMemConfig
func sim_cuCtxGetSharedMemConfig(config *C.CUsharedconfig) C.CUresult {
	return inContext(func(*context) error {
		if config == nil {
			return invalidValue
		}
		*config = C.CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE
		return nil
	})
}

//export sim_cuCtxSetSharedMemConfig
func sim_cuCtxSetSharedMemConfig(config C.CUsharedconfig) C.CUresult {
	return inContext(func(*context) error { return checkBanks(config) })
}

// checkBanks returns an error for an unknown size of banks of shared memory.
func checkBanks(config C.CUsharedconfig) error {
	if config > C.CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE {
		return invalidValue
	}
	return nil
}
