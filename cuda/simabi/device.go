//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strconv"
	"unsafe"
)

// onDevice is call for a function on a GPU.
func onDevice(dev C.CUdevice, body func(*gpu) error) C.CUresult {
	return call(func(*thread) error {
		g, err := gpuOf(dev)
		if err != nil {
			return err
		}
		return body(g)
	})
}

//export sim_cuDeviceGetCount
func sim_cuDeviceGetCount(count *C.int) C.CUresult {
	return call(func(*thread) error {
		if count == nil {
			return invalidValue
		}
		*count = C.int(len(driver.gpus))
		return nil
	})
}

//export sim_cuDeviceGet
func sim_cuDeviceGet(dev *C.CUdevice, ordinal C.int) C.CUresult {
	return call(func(*thread) error {
		if dev == nil {
			return invalidValue
		}
		g, err := gpuOf(C.CUdevice(ordinal))
		if err == nil {
			*dev = C.CUdevice(g.ordinal)
		}
		return err
	})
}

// putText stores as much of a text as fits, with its NUL.
func putText(to *C.char, size C.int, text string) error {
	if to == nil || size <= 0 {
		return invalidValue
	}
	room := unsafe.Slice((*byte)(unsafe.Pointer(to)), size)
	n := copy(room[:size-1], text)
	room[n] = 0
	return nil
}

//export sim_cuDeviceGetName
func sim_cuDeviceGetName(name *C.char, size C.int, dev C.CUdevice) C.CUresult {
	return onDevice(dev, func(g *gpu) error { return putText(name, size, g.profile.Name) })
}

// uuid identifies the GPU in all processes. It is the start of a hash of its name
// and its slot.
func (g *gpu) uuid() [16]byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", g.profile.Name, g.slot))
	return [16]byte(sum[:16])
}

// uuidText is the UUID as nvidia-smi -L prints it.
func (g *gpu) uuidText() string {
	u := g.uuid()
	return fmt.Sprintf("%s%x-%x-%x-%x-%x", uuidPrefix, u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

//export sim_cuDeviceGetUuid
func sim_cuDeviceGetUuid(uuid *C.CUuuid, dev C.CUdevice) C.CUresult {
	return onDevice(dev, func(g *gpu) error {
		if uuid == nil {
			return invalidValue
		}
		*(*[16]byte)(unsafe.Pointer(uuid)) = g.uuid()
		return nil
	})
}

//export sim_cuDeviceGetUuid_v2
func sim_cuDeviceGetUuid_v2(uuid *C.CUuuid, dev C.CUdevice) C.CUresult {
	return sim_cuDeviceGetUuid(uuid, dev)
}

//export sim_cuDeviceTotalMem_v2
func sim_cuDeviceTotalMem_v2(bytes *C.size_t, dev C.CUdevice) C.CUresult {
	return onDevice(dev, func(g *gpu) error {
		if bytes == nil {
			return invalidValue
		}
		*bytes = C.size_t(g.memory)
		return nil
	})
}

// bus returns the number of a GPU's PCI bus in domain 0. The GPU is device 0 on it.
func (g *gpu) bus() int { return g.slot + 1 }

//export sim_cuDeviceGetPCIBusId
func sim_cuDeviceGetPCIBusId(id *C.char, size C.int, dev C.CUdevice) C.CUresult {
	return onDevice(dev, func(g *gpu) error {
		return putText(id, size, fmt.Sprintf("0000:%02x:00.0", g.bus()))
	})
}

// busID matches the text form of a PCI address.
var busID = regexp.MustCompile(`^(?:([0-9a-fA-F]{1,8}):)?([0-9a-fA-F]{1,2}):([0-9a-fA-F]{1,2})(?:\.([0-9a-fA-F]))?$`)

// busOf parses [domain:]bus:device[.function], all hexadecimal. It returns -1 for a
// device other than 0 in domain 0.
func busOf(id string) (int, bool) {
	m := busID.FindStringSubmatch(id)
	if m == nil {
		return 0, false
	}
	var n [5]int64
	for i, digits := range m[1:] {
		n[i+1], _ = strconv.ParseInt(digits, 16, 64) // absent ones are 0
	}
	if n[1] != 0 || n[3] != 0 || n[4] != 0 {
		return -1, true
	}
	return int(n[2]), true
}

// sim_cuDeviceGetByPCIBusId accepts domain:bus:device.function with or without the domain and the function.
//
//export sim_cuDeviceGetByPCIBusId
func sim_cuDeviceGetByPCIBusId(dev *C.CUdevice, id *C.char) C.CUresult {
	return call(func(*thread) error {
		if dev == nil || id == nil {
			return invalidValue
		}
		bus, ok := busOf(C.GoString(id))
		if !ok {
			return invalidValue
		}
		for _, g := range driver.gpus {
			if g.bus() == bus {
				*dev = C.CUdevice(g.ordinal)
				return nil
			}
		}
		return status(C.CUDA_ERROR_INVALID_DEVICE)
	})
}

//export sim_cuDeviceGetExecAffinitySupport
func sim_cuDeviceGetExecAffinitySupport(supported *C.int, kind C.CUexecAffinityType, dev C.CUdevice) C.CUresult {
	return onDevice(dev, func(*gpu) error {
		if supported == nil || kind != C.CU_EXEC_AFFINITY_TYPE_SM_COUNT {
			return invalidValue
		}
		*supported = 0
		return nil
	})
}
