//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/unit"
)

// fixed are the attributes that are the same for all simulated GPUs. Extents of
// textures, surfaces, grids and blocks are those of compute capability 6.0 and
// later in the CUDA C++ Programming Guide, technical specifications per compute
// capability. An attribute that is neither in fixed nor in measured is 0: the
// simulator does not have the ability, for example access to pageable memory or to
// peers, clusters and RDMA.
var fixed = map[C.CUdevice_attribute]int{
	C.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:       1024,
	C.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:       1024,
	C.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:       64,
	C.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:        1<<31 - 1,
	C.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:        1<<16 - 1,
	C.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:        1<<16 - 1,
	C.CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY: 64 << 10,
	C.CU_DEVICE_ATTRIBUTE_WARP_SIZE:             32,
	C.CU_DEVICE_ATTRIBUTE_MAX_PITCH:             1<<31 - 1,

	C.CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED: 1,

	C.CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:       512,
	C.CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT: 32,
	C.CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT:       512,

	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH:              1 << 17,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH:    1 << 15,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH:      1 << 15,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS:     2048,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH:              1 << 17,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT:             1 << 16,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH:       1 << 17,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT:      65000,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH:       2097120,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH:    1 << 15,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT:   1 << 15,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH:       1 << 15,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT:      1 << 15,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH:      1 << 15,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT:     1 << 15,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS:     2048,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH:              1 << 14,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT:             1 << 14,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH:              1 << 14,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE:    1 << 13,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE:   1 << 13,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE:    1 << 15,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH:         1 << 15,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH: 1 << 15,

	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS: 2046,

	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH:              1 << 15,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH:      1 << 15,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS:     2048,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH:              1 << 17,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT:             1 << 16,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH:      1 << 15,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT:     1 << 15,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS:     2048,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH:              1 << 14,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT:             1 << 14,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH:              1 << 14,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH:         1 << 15,
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH: 1 << 15,

	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS: 2046,

	C.CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:                      2, // as in the time model
	C.CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:                             1,
	C.CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:                     1,
	C.CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:                      1,
	C.CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:                      1,
	C.CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER:                        1,
	C.CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:             1,
	C.CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED:               1,
	C.CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED:                1,
	C.CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:                          1,
	C.CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:                 1,
	C.CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED:       1,
	C.CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM: 1,
	C.CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1:               1,
	C.CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1:        1,
	C.CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1:        1,
	C.CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:           1,
	C.CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR:           1,
	C.CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:                      1,
	C.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:                  1,
	C.CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT:                   1,
	C.CU_DEVICE_ATTRIBUTE_NUMA_ID:                                 -1, // not a NUMA node of the system
	C.CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:                            -1,
}

// sharedPerBlock is the shared memory of a block, in bytes, unless its kernel
// requests more.
const sharedPerBlock = 48 << 10

// measured are the attributes that follow from a GPU's profile.
var measured = map[C.CUdevice_attribute]func(*model.Profile) int{
	C.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:                func(p *model.Profile) int { return p.Limits.ThreadsPerBlock },
	C.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:       func(p *model.Profile) int { return p.Limits.ThreadsPerSM },
	C.CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:        func(p *model.Profile) int { return p.Limits.BlocksPerSM },
	C.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:              func(p *model.Profile) int { return p.Limits.RegistersPerSM },
	C.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:     func(p *model.Profile) int { return p.Limits.RegistersPerSM },
	C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:          func(p *model.Profile) int { return min(sharedPerBlock, p.Limits.SharedPerBlock) },
	C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:    func(p *model.Profile) int { return p.Limits.SharedPerBlock },
	C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: func(p *model.Profile) int { return p.Limits.SharedPerSM },
	C.CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:     func(p *model.Profile) int { return p.Limits.SharedReserved },

	C.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:          func(p *model.Profile) int { return p.SMs },
	C.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:      func(p *model.Profile) int { return p.ComputeMajor },
	C.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:      func(p *model.Profile) int { return p.ComputeMinor },
	C.CU_DEVICE_ATTRIBUTE_CLOCK_RATE:                    func(p *model.Profile) int { return int(p.ClockMHz * 1000) },
	C.CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:             memoryClock,
	C.CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:       func(p *model.Profile) int { return busBits[p.ID] },
	C.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:                 func(p *model.Profile) int { return int(p.L2Bytes) },
	C.CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE:  func(p *model.Profile) int { return int(persistingL2(p)) },
	C.CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE: func(p *model.Profile) int { return ifAtLeast(p.ComputeMajor, 8, 128<<20) },
	C.CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:  func(p *model.Profile) int { return ifAtLeast(p.ComputeMajor, 6, 1) },
	C.CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:     func(p *model.Profile) int { return ifAtLeast(p.ComputeMajor, 6, 1) },
	C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH: func(p *model.Profile) int {
		if p.ComputeMajor >= 6 && p.ComputeMinor == 0 {
			return 1 << 28
		}
		return 1 << 27
	},
	C.CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO: func(p *model.Profile) int {
		return ratio(p.Lanes[unit.FP32], p.Lanes[unit.FP64])
	},
}

// ifAtLeast returns value for GPUs of compute capability since.0 and later, else 0.
func ifAtLeast(major, since, value int) int {
	if major >= since {
		return value
	}
	return 0
}

// ratio returns a/b, rounded, or 1 if the profile does not have the unit.
func ratio(a, b float64) int {
	if a == 0 || b == 0 {
		return 1
	}
	return int(a/b + 0.5)
}

// busBits is the width of the bus to DRAM, from the data sheets that the profiles
// cite. It is not in the profiles, since no time depends on it.
var busBits = map[string]int{"h200": 6144, "a100": 5120, "v100": 4096, "p100": 3072, "gtx1660s": 192, "gtx960": 128}

// memoryClock returns the clock of DRAM in kHz at which a bus of two bits per cycle
// and wire has the profile's bandwidth.
func memoryClock(p *model.Profile) int {
	width := busBits[p.ID]
	if width == 0 {
		return 0
	}
	return int(p.MemoryGBps * 1e6 * 8 / 2 / float64(width))
}

// attribute returns the value of an attribute, or an error if the number is not an
// attribute.
func (g *gpu) attribute(a C.CUdevice_attribute) (int, error) {
	switch of := measured[a]; {
	case a < 1 || a >= C.CU_DEVICE_ATTRIBUTE_MAX:
		return 0, invalidValue
	case a == C.CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
		return g.bus(), nil
	case a == C.CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID:
		return g.slot, nil
	case of != nil:
		return of(g.profile), nil
	}
	return fixed[a], nil
}

//export sim_cuDeviceGetAttribute
func sim_cuDeviceGetAttribute(value *C.int, a C.CUdevice_attribute, dev C.CUdevice) C.CUresult {
	return onDevice(dev, func(g *gpu) error {
		if value == nil {
			return invalidValue
		}
		v, err := g.attribute(a)
		if err == nil {
			*value = C.int(v)
		}
		return err
	})
}

//export sim_cuDeviceGetProperties
func sim_cuDeviceGetProperties(p *C.CUdevprop, dev C.CUdevice) C.CUresult {
	return onDevice(dev, func(g *gpu) error {
		if p == nil {
			return invalidValue
		}
		get := func(a C.CUdevice_attribute) C.int {
			v, _ := g.attribute(a)
			return C.int(v)
		}
		*p = C.CUdevprop{
			maxThreadsPerBlock:  get(C.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
			sharedMemPerBlock:   get(C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
			totalConstantMemory: get(C.CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
			SIMDWidth:           get(C.CU_DEVICE_ATTRIBUTE_WARP_SIZE),
			memPitch:            get(C.CU_DEVICE_ATTRIBUTE_MAX_PITCH),
			regsPerBlock:        get(C.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
			clockRate:           get(C.CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
			textureAlign:        get(C.CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT),
		}
		for i := range 3 {
			p.maxThreadsDim[i] = get(C.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + C.CUdevice_attribute(i))
			p.maxGridSize[i] = get(C.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + C.CUdevice_attribute(i))
		}
		return nil
	})
}

//export sim_cuDeviceComputeCapability
func sim_cuDeviceComputeCapability(major, minor *C.int, dev C.CUdevice) C.CUresult {
	return onDevice(dev, func(g *gpu) error {
		if major == nil || minor == nil {
			return invalidValue
		}
		*major, *minor = C.int(g.profile.ComputeMajor), C.int(g.profile.ComputeMinor)
		return nil
	})
}

// sim_cuDeviceGetTexture1DLinearMaxWidth returns the attribute's value, which is that of
// the widest format, for all formats.
//
//export sim_cuDeviceGetTexture1DLinearMaxWidth
func sim_cuDeviceGetTexture1DLinearMaxWidth(width *C.size_t, format C.CUarray_format, channels C.uint, dev C.CUdevice) C.CUresult {
	return onDevice(dev, func(g *gpu) error {
		if width == nil || channels != 1 && channels != 2 && channels != 4 || format == 0 || format > C.CU_AD_FORMAT_FLOAT {
			return invalidValue
		}
		v, err := g.attribute(C.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH)
		*width = C.size_t(v)
		return err
	})
}
