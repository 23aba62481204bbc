//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"errors"
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// Managed memory has one address for the host and for kernels. Kernels migrate the pages that they
// touch, and prefetches migrate ranges. Accesses by the host cannot be observed and migrate nothing, so
// a program migrates memory to the host before it touches it: with cuMemPrefetchAsync, or on a GPU
// without it by attaching the memory to the host. Advice is stored for queries, and
// has no effect.

//export sim_cuMemAllocManaged
func sim_cuMemAllocManaged(p *C.CUdeviceptr, n C.size_t, flags C.uint) C.CUresult {
	return inContextUnsafe(func(c *context) error {
		if p == nil || n == 0 || flags != C.CU_MEM_ATTACH_GLOBAL && flags != C.CU_MEM_ATTACH_HOST {
			return invalidValue
		}
		if n > 1<<46 {
			return status(C.CUDA_ERROR_OUT_OF_MEMORY)
		}
		b, err := c.lendPages(int64(n), managedBlock, flags, "managed")
		if err == nil {
			*p = C.CUdeviceptr(b.at)
		}
		return err
	})
}

// managed returns the block that contains n bytes of managed memory.
func managed(p C.CUdeviceptr, n C.size_t) (*block, error) {
	b := blocks.at(p)
	if b == nil || b.kind != managedBlock || n == 0 || n > C.size_t(b.size)-C.size_t(device.Ptr(p)-b.at) {
		return nil, invalidValue
	}
	return b, nil
}

// cpu is the ordinal of the host.
const cpu = C.CUdevice(C.CU_DEVICE_CPU)

// deviceOrCPU refuses numbers that are neither an ordinal nor the host.
func deviceOrCPU(dev C.CUdevice) error {
	if dev == cpu {
		return nil
	}
	_, err := gpuOf(dev)
	return err
}

// ordinal returns the device or host of a location.
func ordinal(l C.CUmemLocation) (C.CUdevice, error) {
	switch l._type {
	case C.CU_MEM_LOCATION_TYPE_DEVICE:
		_, err := gpuOf(C.CUdevice(l.id))
		return C.CUdevice(l.id), err
	case C.CU_MEM_LOCATION_TYPE_HOST, C.CU_MEM_LOCATION_TYPE_HOST_NUMA, C.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
		return cpu, nil
	}
	return 0, invalidValue
}

//export sim_cuMemPrefetchAsync
func sim_cuMemPrefetchAsync(p C.CUdeviceptr, n C.size_t, dev C.CUdevice, h C.CUstream) C.CUresult {
	return inStream(h, func(s *stream) error {
		if err := deviceOrCPU(dev); err != nil {
			return err
		}
		return s.prefetch(p, n, dev)
	})
}

//export sim_cuMemPrefetchAsync_v2
func sim_cuMemPrefetchAsync_v2(p C.CUdeviceptr, n C.size_t, to C.CUmemLocation, flags C.uint, h C.CUstream) C.CUresult {
	return inStream(h, func(s *stream) error {
		if flags != 0 {
			return invalidValue
		}
		dev, err := ordinal(to)
		if err != nil {
			return err
		}
		return s.prefetch(p, n, dev)
	})
}

// prefetch migrates to the stream's own GPU. Memory for another GPU migrates to the
// host, which is as far.
func (s *stream) prefetch(p C.CUdeviceptr, n C.size_t, dev C.CUdevice) error {
	b, err := managed(p, n)
	if err != nil {
		return err
	}
	if err := s.submit(&device.Prefetch{At: device.Ptr(p), Bytes: int64(n), ToDevice: int(dev) == s.context.gpu.ordinal}); err != nil {
		return err
	}
	b.advise(p, n, lastPrefetch, dev, true)
	return nil
}

// sim_cuStreamAttachMemAsync attaches a whole block of managed memory. Attached to the host, the block migrates
// there; the other attachments only occupy a position in the stream.
//
//export sim_cuStreamAttachMemAsync
func sim_cuStreamAttachMemAsync(h C.CUstream, p C.CUdeviceptr, n C.size_t, flags C.uint) C.CUresult {
	return inStream(h, func(s *stream) error {
		b := blocks.starting(device.Ptr(p))
		switch {
		case b == nil || b.kind != managedBlock || n != 0 && n != C.size_t(b.size),
			flags != C.CU_MEM_ATTACH_GLOBAL && flags != C.CU_MEM_ATTACH_HOST && flags != C.CU_MEM_ATTACH_SINGLE,
			flags == C.CU_MEM_ATTACH_SINGLE && s.handle == 0:
			return invalidValue
		}
		if flags == C.CU_MEM_ATTACH_HOST {
			return s.submit(&sim.Recall{At: b.at, Bytes: b.size})
		}
		return s.submit(device.Nothing{})
	})
}

// sim_cuMemAdvise stores advice for cuMemRangeGetAttribute.
//
//export sim_cuMemAdvise
func sim_cuMemAdvise(p C.CUdeviceptr, n C.size_t, what C.CUmem_advise, dev C.CUdevice) C.CUresult {
	return onNamed(func(*thread) error { return adviseBlock(p, n, what, dev) })
}

//export sim_cuMemAdvise_v2
func sim_cuMemAdvise_v2(p C.CUdeviceptr, n C.size_t, what C.CUmem_advise, at C.CUmemLocation) C.CUresult {
	return onNamed(func(*thread) error {
		dev := cpu
		if located(what) {
			var err error
			if dev, err = ordinal(at); err != nil {
				return err
			}
		}
		return adviseBlock(p, n, what, dev)
	})
}

// adviseBlock stores advice for a range of managed memory.
func adviseBlock(p C.CUdeviceptr, n C.size_t, what C.CUmem_advise, dev C.CUdevice) error {
	b, err := managed(p, n)
	if err != nil {
		return err
	}
	if located(what) {
		if err := deviceOrCPU(dev); err != nil {
			return err
		}
	}
	switch what {
	case C.CU_MEM_ADVISE_SET_READ_MOSTLY, C.CU_MEM_ADVISE_UNSET_READ_MOSTLY:
		b.advise(p, n, readMostly, 0, what == C.CU_MEM_ADVISE_SET_READ_MOSTLY)
	case C.CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
		b.advise(p, n, preferred, dev, true)
	case C.CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
		b.advise(p, n, preferred, 0, false)
	case C.CU_MEM_ADVISE_SET_ACCESSED_BY, C.CU_MEM_ADVISE_UNSET_ACCESSED_BY:
		b.advise(p, n, accessedBy(dev), dev, what == C.CU_MEM_ADVISE_SET_ACCESSED_BY)
	default:
		return invalidValue
	}
	return nil
}

// located reports whether advice refers to a location.
func located(what C.CUmem_advise) bool {
	return what == C.CU_MEM_ADVISE_SET_PREFERRED_LOCATION || what == C.CU_MEM_ADVISE_SET_ACCESSED_BY || what == C.CU_MEM_ADVISE_UNSET_ACCESSED_BY
}

// advise stores advice for n bytes, or its withdrawal if set is false.
func (b *block) advise(p C.CUdeviceptr, n C.size_t, topic adviceTopic, dev C.CUdevice, set bool) {
	b.advices.set(advice{lo: uint64(p), hi: uint64(p) + uint64(n), topic: topic, device: int(dev), set: set})
}

//export sim_cuMemRangeGetAttribute
func sim_cuMemRangeGetAttribute(data unsafe.Pointer, size C.size_t, a C.CUmem_range_attribute, p C.CUdeviceptr, n C.size_t) C.CUresult {
	return onNamed(func(*thread) error { return rangeAttribute(data, size, a, p, n) })
}

//export sim_cuMemRangeGetAttributes
func sim_cuMemRangeGetAttributes(data *unsafe.Pointer, sizes *C.size_t, attributes *C.CUmem_range_attribute, count C.size_t, p C.CUdeviceptr, n C.size_t) C.CUresult {
	return onNamed(func(*thread) error {
		if count == 0 {
			return invalidValue
		}
		each, err1 := listAt(data, count)
		size, err2 := listAt(sizes, count)
		list, err3 := listAt(attributes, count)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		for i, a := range list {
			if err := rangeAttribute(each[i], size[i], a, p, n); err != nil {
				return err
			}
		}
		return nil
	})
}

// rangeAttribute stores an attribute that holds for all of a range. Every value has
// 32 bits or is a list of such values.
func rangeAttribute(data unsafe.Pointer, size C.size_t, a C.CUmem_range_attribute, p C.CUdeviceptr, n C.size_t) error {
	b, err := managed(p, n)
	out, unfit := listAt((*C.int)(data), size/4)
	if err != nil || unfit != nil || size == 0 || size%4 != 0 || size != 4 && a != C.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY {
		return invalidValue
	}
	uniform := func(topic adviceTopic) (int, bool) { return b.advices.uniform(uint64(p), uint64(p)+uint64(n), topic) }
	switch a {
	case C.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
		out[0] = 0
		if _, ok := uniform(readMostly); ok {
			out[0] = 1
		}
	case C.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, C.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
		out[0] = deviceNumber(uniform(preferred))
	case C.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, C.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
		out[0] = deviceNumber(uniform(lastPrefetch))
	case C.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
		out[0] = locationType(uniform(preferred))
	case C.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
		out[0] = locationType(uniform(lastPrefetch))
	case C.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
		i := 0
		for dev := int(cpu); dev < len(driver.gpus) && i < len(out); dev++ {
			if _, ok := uniform(accessedBy(C.CUdevice(dev))); ok {
				out[i] = C.int(dev)
				i++
			}
		}
		for ; i < len(out); i++ {
			out[i] = C.CU_DEVICE_INVALID
		}
	default:
		return invalidValue
	}
	return nil
}

// deviceNumber returns the ordinal of a device for C; CU_DEVICE_INVALID if there is no uniform advice.
func deviceNumber(dev int, ok bool) C.int {
	if !ok {
		return C.CU_DEVICE_INVALID
	}
	return C.int(dev)
}

// locationType returns the type of a device's location for C.
func locationType(dev int, ok bool) C.int {
	switch {
	case !ok:
		return C.CU_MEM_LOCATION_TYPE_INVALID
	case dev == int(cpu):
		return C.CU_MEM_LOCATION_TYPE_HOST
	}
	return C.CU_MEM_LOCATION_TYPE_DEVICE
}
