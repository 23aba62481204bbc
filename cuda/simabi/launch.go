//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
)

// A program passes the parameters of a kernel in one of two forms. Both become the packed block of the device:
//
//	kernelParams  pointers to the values; their sizes and offsets follow from the kernel's signature
//	extra         a list: BUFFER_POINTER, address of the block, BUFFER_SIZE, address of its size, END
//
// A launch must not allocate. The block is therefore appended to the memory of the context's previous launch
// (context.scratch), which the device has copied by then.

// The keys of a list of extra launch arguments.
const (
	extraEnd     = C.CU_LAUNCH_PARAM_END_AS_INT
	extraPointer = C.CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT
	extraSize    = C.CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT
)

// arguments appends a kernel's parameter block to block. Exactly one of params and
// extra is given.
func (f *function) arguments(block []byte, params, extra *unsafe.Pointer) ([]byte, error) {
	switch {
	case params != nil && extra != nil:
		return nil, invalidValue
	case f.info.ParamBytes == 0:
		return block, nil
	case extra != nil:
		return f.fromExtra(block, extra)
	case params != nil:
		return f.fromPointers(block, params)
	}
	return nil, invalidValue
}

// fromPointers collects the parameters from an array of pointers.
func (f *function) fromPointers(block []byte, params *unsafe.Pointer) ([]byte, error) {
	start := len(block)
	block = append(block, make([]byte, f.info.ParamBytes)...)
	for i, at := range unsafe.Slice(params, len(f.info.Params)) {
		if at == nil {
			return nil, invalidValue
		}
		p := f.info.Params[i]
		copy(block[start+p.Offset:], unsafe.Slice((*byte)(at), p.Size))
	}
	return block, nil
}

// fromExtra copies the block of the program. The list consists of pairs of a key
// and a value, and ends with a special key.
func (f *function) fromExtra(block []byte, extra *unsafe.Pointer) ([]byte, error) {
	var data *byte
	var size *C.size_t
	for list := extra; ; list = (*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(list), 2*unsafe.Sizeof(*list))) {
		if uintptr(*list) == extraEnd {
			if data == nil || size == nil || int(*size) != f.info.ParamBytes {
				return nil, invalidValue
			}
			return append(block, unsafe.Slice(data, *size)...), nil
		}
		pair := unsafe.Slice(list, 2)
		switch uintptr(pair[0]) {
		case extraPointer:
			data = (*byte)(pair[1])
		case extraSize:
			size = (*C.size_t)(pair[1])
		default:
			return nil, invalidValue
		}
	}
}

// bound is functionOf for a launch. It also binds the texture references of the
// function's module. That may wait, so it must precede all other lookups of a
// launch: see outside.
func (c *context) bound(h C.CUfunction) (*function, error) {
	f, err := c.functionOf(h)
	if err == nil {
		err = f.module.bind()
	}
	return f, err
}

// launch enqueues a kernel with parameters in one of the two forms.
func (c *context) launch(fn C.CUfunction, st C.CUstream, l device.Launch, params, extra *unsafe.Pointer) error {
	f, err := c.bound(fn)
	if err != nil {
		return err
	}
	if l.Params, err = f.arguments(c.scratch.Params[:0], params, extra); err != nil {
		return err
	}
	return c.enqueue(f, st, l)
}

// enqueue enqueues a kernel. It uses the context's launch struct, since a new one
// would be allocated for every call.
func (c *context) enqueue(f *function, st C.CUstream, l device.Launch) error {
	s, err := c.streamOf(st)
	if err != nil {
		return err
	}
	if err := f.fits(l.Shared); err != nil {
		return err
	}
	l.Function, l.Label = f.sim, label()
	c.scratch = l
	if s.capture.Capturing() {
		return s.add(capturedKernel(f, &c.scratch, s.priority))
	}
	return s.submit(&c.scratch)
}

// dim converts extents of a grid or a block.
func dim(x, y, z C.uint) device.Dim3 { return device.Dim3{X: uint32(x), Y: uint32(y), Z: uint32(z)} }

//export sim_cuLaunchKernel
func sim_cuLaunchKernel(f C.CUfunction, gx, gy, gz, bx, by, bz, shared C.uint, st C.CUstream, params, extra *unsafe.Pointer) C.CUresult {
	return inContext(func(c *context) error {
		return c.launch(f, st, device.Launch{Grid: dim(gx, gy, gz), Block: dim(bx, by, bz), Shared: uint32(shared)}, params, extra)
	})
}

// sim_cuLaunchCooperativeKernel requires that all blocks fit on the device at once, because they may wait for each
// other.
//
//export sim_cuLaunchCooperativeKernel
func sim_cuLaunchCooperativeKernel(f C.CUfunction, gx, gy, gz, bx, by, bz, shared C.uint, st C.CUstream, params *unsafe.Pointer) C.CUresult {
	return inContext(func(c *context) error {
		return c.launch(f, st, device.Launch{Grid: dim(gx, gy, gz), Block: dim(bx, by, bz), Shared: uint32(shared), Cooperative: true}, params, nil)
	})
}

// sim_cuLaunchKernelEx is cuLaunchKernel with a list of attributes. An attribute of an unknown kind is invalid.
//
//export sim_cuLaunchKernelEx
func sim_cuLaunchKernelEx(config *C.CUlaunchConfig, f C.CUfunction, params, extra *unsafe.Pointer) C.CUresult {
	return inContext(func(c *context) error {
		if config == nil || config.numAttrs > 0 && config.attrs == nil {
			return invalidValue
		}
		l := device.Launch{
			Grid:   dim(config.gridDimX, config.gridDimY, config.gridDimZ),
			Block:  dim(config.blockDimX, config.blockDimY, config.blockDimZ),
			Shared: uint32(config.sharedMemBytes),
		}
		for i := range unsafe.Slice(config.attrs, config.numAttrs) {
			a := (*C.CUlaunchAttribute)(unsafe.Add(unsafe.Pointer(config.attrs), uintptr(i)*unsafe.Sizeof(*config.attrs)))
			if err := applyAttribute(&l, a); err != nil {
				return err
			}
		}
		return c.launch(f, config.hStream, l, params, extra)
	})
}

// applyAttribute applies an attribute to a launch. Hints and permissions have no
// effect: a launch starts when the previous one has ended.
func applyAttribute(l *device.Launch, a *C.CUlaunchAttribute) error {
	switch a.id {
	case C.CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
		l.Cooperative = *(*C.int)(unsafe.Pointer(&a.value)) != 0
	case C.CU_LAUNCH_ATTRIBUTE_PRIORITY:
		if l.Priority = int(*(*C.int)(unsafe.Pointer(&a.value))); l.Priority == 0 {
			l.Priority = 1 // 0 means the stream's priority; a value beyond the least priority, 0, counts as the least
		}
	case C.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
		if of := *(*[3]C.uint)(unsafe.Pointer(&a.value)); of != [3]C.uint{1, 1, 1} {
			return notSupported
		}
	case C.CU_LAUNCH_ATTRIBUTE_IGNORE,
		C.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
		C.CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
		C.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
		C.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
		C.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
	case C.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
		C.CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
		C.CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
		return notSupported
	default:
		return invalidValue
	}
	return nil
}
