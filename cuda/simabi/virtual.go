//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/interp"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// Virtual memory management separates addresses from memory:
//
//	cuMemAddressReserve ─► reservation: a range of addresses, without memory
//	cuMemCreate ─────────► allocation: physical memory of a GPU, without an address
//	cuMemMap ────────────► mapping: a whole allocation at an address in a reservation; no GPU can access it yet
//	cuMemSetAccess ──────► access of each GPU to the mappings in a range
//
//	reservation  ├──────────────────────────────────────────┤
//	mappings         ├── allocation A ──┤├── allocation B ──┤
//	GPU 0            ├── read/write ────┤├── read ──────────┤
//
// An allocation may be mapped several times. It is freed when it has no references (cuMemRelease,
// cuMemRetainAllocationHandle) and no mappings. All of this belongs to the process and
// outlives contexts. It costs no virtual time, except for the waits of cuMemUnmap and
// cuMemSetAccess, which must not change memory under running work. A requested address is a hint, which is ignored. An
// error in a call with a handle is CUDA_ERROR_INVALID_VALUE here, as documented. Sizes are multiples of
// interp.Granularity, in bytes.

// allocation is physical memory with a handle.
type allocation struct {
	handle   handle
	refs     int // number of references
	gpu      *gpu
	prop     C.CUmemAllocationProp
	physical *interp.Physical
}

func (*allocation) owner() *context { return nil }

var (
	allocations  handles[*allocation]
	allocationOf = map[*interp.Physical]*allocation{} // including mapped memory without a handle
)

// locatedOn returns the GPU of a location.
func locatedOn(l C.CUmemLocation) (*gpu, error) {
	switch l._type {
	case C.CU_MEM_LOCATION_TYPE_DEVICE:
		return gpuOf(C.CUdevice(l.id))
	case C.CU_MEM_LOCATION_TYPE_HOST, C.CU_MEM_LOCATION_TYPE_HOST_NUMA, C.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
		return nil, fmt.Errorf("%w: memory that is mapped is of GPUs, and for GPUs: use CU_MEM_LOCATION_TYPE_DEVICE", notSupported)
	}
	return nil, invalidValue
}

// checkedProp returns the GPU in the properties of an allocation, or an error if
// such memory is not supported. Memory that may be exported as a file descriptor is
// ordinary memory until it is exported.
func checkedProp(p *C.CUmemAllocationProp) (*gpu, error) {
	if p == nil || p._type != C.CU_MEM_ALLOCATION_TYPE_PINNED || p.win32HandleMetaData != nil ||
		p.allocFlags.compressionType > C.CU_MEM_ALLOCATION_COMP_GENERIC || p.allocFlags.usage&^C.CU_MEM_CREATE_USAGE_TILE_POOL != 0 {
		return nil, invalidValue
	}
	const known = C.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | C.CU_MEM_HANDLE_TYPE_WIN32 | C.CU_MEM_HANDLE_TYPE_WIN32_KMT | C.CU_MEM_HANDLE_TYPE_FABRIC
	switch {
	case p.requestedHandleTypes&^known != 0:
		return nil, invalidValue
	case p.requestedHandleTypes&^C.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR != 0:
		return nil, fmt.Errorf("%w: the simulated GPU has no handles of Windows and of fabrics", notSupported)
	case p.allocFlags.usage != 0:
		return nil, fmt.Errorf("%w: there are no sparse arrays to pool tiles for", notSupported)
	case p.allocFlags.gpuDirectRDMACapable != 0:
		return nil, fmt.Errorf("%w: no other device reaches the memory of the simulated GPU: leave gpuDirectRDMACapable 0", notSupported)
	}
	return locatedOn(p.location)
}

//export sim_cuMemGetAllocationGranularity
func sim_cuMemGetAllocationGranularity(granularity *C.size_t, prop *C.CUmemAllocationProp, option C.CUmemAllocationGranularity_flags) C.CUresult {
	return call(func(*thread) error {
		if granularity == nil || option > C.CU_MEM_ALLOC_GRANULARITY_RECOMMENDED {
			return invalidValue
		}
		if _, err := checkedProp(prop); err != nil {
			return err
		}
		*granularity = interp.Granularity
		return nil
	})
}

// hostPage is the unit of the size of a reservation and of the hint for its
// address.
const hostPage = 4096

// sim_cuMemAddressReserve reserves addresses without memory. Size and hint are multiples of hostPage bytes, the
// alignment is a power of two.
//
//export sim_cuMemAddressReserve
func sim_cuMemAddressReserve(p *C.CUdeviceptr, size, alignment C.size_t, addr C.CUdeviceptr, flags C.ulonglong) C.CUresult {
	return call(func(*thread) error {
		if p == nil || size == 0 || size%hostPage != 0 || alignment&(alignment-1) != 0 || addr%hostPage != 0 || flags != 0 {
			return invalidValue
		}
		if size > 1<<62 {
			return status(C.CUDA_ERROR_OUT_OF_MEMORY)
		}
		at, err := driver.system.ReserveAddresses(int64(size), uint64(alignment))
		if err == nil {
			*p = C.CUdeviceptr(at)
		}
		return err
	})
}

//export sim_cuMemAddressFree
func sim_cuMemAddressFree(p C.CUdeviceptr, size C.size_t) C.CUresult {
	return call(func(*thread) error {
		n, err := length(size)
		if err != nil {
			return err
		}
		return driver.system.FreeAddresses(device.Ptr(p), n)
	})
}

//export sim_cuMemCreate
func sim_cuMemCreate(h *C.CUmemGenericAllocationHandle, size C.size_t, prop *C.CUmemAllocationProp, flags C.ulonglong) C.CUresult {
	return call(func(*thread) error {
		if h == nil || size == 0 || size%interp.Granularity != 0 || flags != 0 {
			return invalidValue
		}
		g, err := checkedProp(prop)
		if err != nil {
			return err
		}
		if size > 1<<62 {
			return status(C.CUDA_ERROR_OUT_OF_MEMORY)
		}
		m, err := g.sim.CreatePhysical(int64(size))
		if err != nil {
			return err
		}
		a := &allocation{refs: 1, gpu: g, prop: *prop, physical: m}
		a.prop.allocFlags.compressionType = C.CU_MEM_ALLOCATION_COMP_NONE // compression is optional
		a.handle = allocations.add(a)
		allocationOf[m] = a
		m.OnGone = func() { delete(allocationOf, m) }
		*h = C.CUmemGenericAllocationHandle(a.handle)
		return nil
	})
}

// ofHandle returns the allocation of a handle.
func ofHandle(h C.CUmemGenericAllocationHandle) (*allocation, error) {
	a, err := allocations.get(handle(h))
	if err != nil {
		return nil, fmt.Errorf("%w: %#x is not the handle of memory of cuMemCreate, or it was released", invalidValue, uint64(h))
	}
	return a, nil
}

// sim_cuMemRelease removes a reference. Without references the handle is invalid; mapped memory remains.
//
//export sim_cuMemRelease
func sim_cuMemRelease(h C.CUmemGenericAllocationHandle) C.CUresult {
	return call(func(*thread) error {
		a, err := ofHandle(h)
		if err != nil {
			return err
		}
		if a.refs--; a.refs == 0 {
			delete(allocations.live, a.handle)
			a.physical.Release()
		}
		return nil
	})
}

// sim_cuMemMap maps an allocation as a whole: offset must be 0, and size that of the allocation.
//
//export sim_cuMemMap
func sim_cuMemMap(p C.CUdeviceptr, size, offset C.size_t, h C.CUmemGenericAllocationHandle, flags C.ulonglong) C.CUresult {
	return call(func(*thread) error {
		a, err := ofHandle(h)
		switch {
		case err != nil:
			return err
		case flags != 0 || offset != 0 || size != C.size_t(a.physical.Bytes()):
			return fmt.Errorf("%w: memory is mapped whole: from offset 0 and all its %d bytes, without flags", invalidValue, a.physical.Bytes())
		}
		return driver.system.Map(device.Ptr(p), a.physical)
	})
}

// sim_cuMemUnmap removes whole mappings. It waits for the work of all contexts, which may access them.
//
//export sim_cuMemUnmap
func sim_cuMemUnmap(p C.CUdeviceptr, size C.size_t) C.CUresult {
	return call(func(*thread) error {
		n, err := length(size)
		if err != nil {
			return err
		}
		return driver.system.Unmap(device.Ptr(p), n)
	})
}

// sim_cuMemSetAccess sets the access of GPUs to whole mappings in a range, all or none. It waits for the work of all
// contexts.
//
//export sim_cuMemSetAccess
func sim_cuMemSetAccess(p C.CUdeviceptr, size C.size_t, desc *C.CUmemAccessDesc, count C.size_t) C.CUresult {
	return call(func(*thread) error {
		list, err := listAt(desc, count)
		n, unfit := length(size)
		if err != nil || unfit != nil || count == 0 {
			return invalidValue
		}
		grants := make([]sim.Grant, len(list))
		for i := range list {
			if grants[i], err = grantOf(&list[i]); err != nil {
				return err
			}
		}
		return driver.system.Allow(device.Ptr(p), n, grants...)
	})
}

// grantOf converts a descriptor of access rights.
func grantOf(d *C.CUmemAccessDesc) (sim.Grant, error) {
	access, ok := map[C.CUmemAccess_flags]interp.Access{
		C.CU_MEM_ACCESS_FLAGS_PROT_NONE:      interp.NoAccess,
		C.CU_MEM_ACCESS_FLAGS_PROT_READ:      interp.ReadOnly,
		C.CU_MEM_ACCESS_FLAGS_PROT_READWRITE: interp.ReadWrite,
	}[d.flags]
	if !ok {
		return sim.Grant{}, invalidValue
	}
	g, err := locatedOn(d.location)
	if err != nil {
		return sim.Grant{}, err
	}
	return sim.Grant{GPU: g.sim, Access: access}, nil
}

// accessFlags are the flags of each interp.Access. Those of pointers have the same values.
var accessFlags = [...]C.uint{
	interp.NoAccess:  C.CU_MEM_ACCESS_FLAGS_PROT_NONE,
	interp.ReadOnly:  C.CU_MEM_ACCESS_FLAGS_PROT_READ,
	interp.ReadWrite: C.CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
}

//export sim_cuMemGetAccess
func sim_cuMemGetAccess(flags *C.ulonglong, location *C.CUmemLocation, p C.CUdeviceptr) C.CUresult {
	return call(func(*thread) error {
		if flags == nil || location == nil {
			return invalidValue
		}
		g, err := locatedOn(*location)
		if err != nil {
			return err
		}
		_, _, access, ok := driver.system.MappedAt(device.Ptr(p), g.sim)
		if !ok {
			return invalidValue
		}
		*flags = C.ulonglong(accessFlags[access])
		return nil
	})
}

//export sim_cuMemGetAllocationPropertiesFromHandle
func sim_cuMemGetAllocationPropertiesFromHandle(prop *C.CUmemAllocationProp, h C.CUmemGenericAllocationHandle) C.CUresult {
	return call(func(*thread) error {
		a, err := ofHandle(h)
		if err != nil || prop == nil {
			return invalidValue
		}
		*prop = a.prop
		return nil
	})
}

// sim_cuMemRetainAllocationHandle returns the handle of the memory that is mapped at an address, with a new
// reference. If all references were released, the handle becomes valid again.
//
//export sim_cuMemRetainAllocationHandle
func sim_cuMemRetainAllocationHandle(h *C.CUmemGenericAllocationHandle, addr unsafe.Pointer) C.CUresult {
	return call(func(*thread) error {
		a := mappedAt(device.Ptr(uintptr(addr)))
		if h == nil || a == nil {
			return invalidValue
		}
		if a.refs++; a.refs == 1 {
			a.physical.Hold()
			allocations.live[a.handle] = a
		}
		*h = C.CUmemGenericAllocationHandle(a.handle)
		return nil
	})
}

// mappedAt returns the allocation that is mapped at an address, or nil.
func mappedAt(p device.Ptr) *allocation {
	_, m, _, _ := driver.system.MappedAt(p, driver.gpus[0].sim)
	return allocationOf[m]
}

// attribute stores an attribute of a reserved address. If nothing is mapped there,
// it has only the attributes of its reservation. Mapped memory belongs to no
// context.
func (r reservedAt) attribute(a C.CUpointer_attribute, out unsafe.Pointer) bool {
	m := mappedAt(r.at)
	switch a {
	case C.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(*device.Ptr)(out) = r.base
		return true
	case C.CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(*C.size_t)(out) = C.size_t(r.size)
		return true
	case C.CU_POINTER_ATTRIBUTE_MAPPED:
		*(*bool)(out) = m != nil
		return true
	}
	return m != nil && r.mappedAttribute(m, a, out)
}

// mappedAttribute is attribute for an address at which memory is mapped.
func (r reservedAt) mappedAttribute(m *allocation, a C.CUpointer_attribute, out unsafe.Pointer) bool {
	base, _, _, _ := driver.system.MappedAt(r.at, m.gpu.sim)
	switch a {
	case C.CU_POINTER_ATTRIBUTE_CONTEXT, C.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		handle(0).put(out)
	case C.CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(*C.CUmemorytype)(out) = C.CU_MEMORYTYPE_DEVICE
	case C.CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		*(*device.Ptr)(out) = r.at
	case C.CU_POINTER_ATTRIBUTE_BUFFER_ID:
		*(*uint64)(out) = uint64(m.handle)
	case C.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, C.CU_POINTER_ATTRIBUTE_IS_MANAGED,
		C.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, C.CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		*(*bool)(out) = false
	case C.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(*C.int)(out) = C.int(m.gpu.ordinal)
	case C.CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
		*(*uint64)(out) = uint64(m.prop.requestedHandleTypes)
	case C.CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		*(*C.uint)(out) = r.access(m)
	case C.CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
		*(*C.size_t)(out) = C.size_t(m.physical.Bytes())
	case C.CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
		*(*device.Ptr)(out) = base
	default:
		return false
	}
	return true
}

// access returns the access of the current context's GPU or, without a current
// context, of the memory's GPU.
func (r reservedAt) access(m *allocation) C.uint {
	g := m.gpu
	if c, err := driver.caller.context(); err == nil {
		g = c.gpu
	}
	_, _, access, _ := driver.system.MappedAt(r.at, g.sim)
	return accessFlags[access]
}

// reservedAt is an address in a reservation.
type reservedAt struct {
	at, base device.Ptr
	size     int64
}
