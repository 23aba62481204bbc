//go:build cuda

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
)

// What a list of extra launch arguments holds.
const (
	extraEnd     = 0
	extraPointer = 1 // CU_LAUNCH_PARAM_BUFFER_POINTER
	extraSize    = 2 // CU_LAUNCH_PARAM_BUFFER_SIZE
)

// arguments appends a kernel's parameter block to block, from the one of the two
// forms that is given.
func (f *function) arguments(block []byte, params, extra *unsafe.Pointer) ([]byte, error) {
	switch {
	case f.info.ParamBytes == 0:
		return block, nil
	case (params != nil) == (extra != nil):
		return nil, invalidValue
	case extra != nil:
		return f.fromExtra(block, extra)
	}
	return f.fromPointers(block, params)
}

// fromPointers gathers the parameters, each from where its pointer says.
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

// fromExtra takes the block as the program made it. The list has pairs of a key and
// a value, and ends with a key of its own.
func (f *function) fromExtra(block []byte, extra *unsafe.Pointer) ([]byte, error) {
	var data *byte
	var size *C.size_t
	const most = 8 // words, in case the end is missing
	list := unsafe.Slice(extra, most)
	for i := 0; ; i += 2 {
		if i+1 >= most {
			return nil, invalidValue
		}
		switch uintptr(list[i]) {
		case extraEnd:
			if data == nil || size == nil || int(*size) != f.info.ParamBytes {
				return nil, invalidValue
			}
			return append(block, unsafe.Slice(data, *size)...), nil
		case extraPointer:
			data = (*byte)(list[i+1])
		case extraSize:
			size = (*C.size_t)(list[i+1])
		default:
			return nil, invalidValue
		}
	}
}

// launch enqueues a kernel. The context's launch is what is handed on, since one of
// its own would be garbage of every call.
func (c *context) launch(fn C.CUfunction, st C.CUstream, l device.Launch, params, extra *unsafe.Pointer) error {
	f, err := c.functionOf(fn)
	if err != nil {
		return err
	}
	s, err := c.streamOf(st)
	if err != nil {
		return err
	}
	l.Function = f.sim
	if l.Params, err = f.arguments(c.scratch.Params[:0], params, extra); err != nil {
		return err
	}
	c.scratch = l
	return s.submit(&c.scratch)
}

func dim(x, y, z C.uint) device.Dim3 { return device.Dim3{X: uint32(x), Y: uint32(y), Z: uint32(z)} }

//export sim_cuLaunchKernel
func sim_cuLaunchKernel(f C.CUfunction, gx, gy, gz, bx, by, bz, shared C.uint, st C.CUstream, params, extra *unsafe.Pointer) C.CUresult {
	return inContext(func(c *context) error {
		return c.launch(f, st, device.Launch{Grid: dim(gx, gy, gz), Block: dim(bx, by, bz), Shared: uint32(shared)}, params, extra)
	})
}

//export sim_cuLaunchCooperativeKernel
func sim_cuLaunchCooperativeKernel(f C.CUfunction, gx, gy, gz, bx, by, bz, shared C.uint, st C.CUstream, params *unsafe.Pointer) C.CUresult {
	return inContext(func(c *context) error {
		return c.launch(f, st, device.Launch{Grid: dim(gx, gy, gz), Block: dim(bx, by, bz), Shared: uint32(shared), Cooperative: true}, params, nil)
	})
}
