//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
)

// Before CUDA 4.0, a launch consisted of several calls. A function keeps the state between them:
//
//	cuFuncSetBlockShape, cuFuncSetSharedSize     shape of a block
//	cuParamSeti, cuParamSetf, cuParamSetv        values at offsets in the parameter block, which grows as necessary
//	cuParamSetSize                               size of the parameter block
//	cuLaunch, cuLaunchGrid, cuLaunchGridAsync    the launch; the state is kept for the next one

// prepared is the state of a launch in the form before CUDA 4.0.
type prepared struct {
	block  device.Dim3
	shared uint32
	params []byte
}

// maxParams bounds the parameters of a kernel, in bytes.
const maxParams = 32764

// resize sets the size of the parameters and keeps their values.
func (p *prepared) resize(n int) {
	if n > len(p.params) {
		p.params = append(p.params, make([]byte, n-len(p.params))...)
	}
	p.params = p.params[:n]
}

// put stores a parameter.
func (f *function) put(offset C.int, value []byte) error {
	if offset < 0 || int(offset)+len(value) > maxParams {
		return invalidValue
	}
	p := &f.prepared
	p.resize(max(len(p.params), int(offset)+len(value)))
	copy(p.params[offset:], value)
	return nil
}

// launchPrepared launches a kernel with the stored parameters.
func launchPrepared(h C.CUfunction, width, height C.int, st C.CUstream) C.CUresult {
	return inContext(func(c *context) error {
		f, err := c.bound(h)
		if err != nil {
			return err
		}
		p := &f.prepared
		if width < 1 || height < 1 || len(p.params) < f.info.ParamBytes {
			return invalidValue
		}
		params := append(c.scratch.Params[:0], p.params[:f.info.ParamBytes]...)
		return c.enqueue(f, st, device.Launch{Grid: dim(C.uint(width), C.uint(height), 1), Block: p.block, Shared: p.shared, Params: params})
	})
}

//export sim_cuFuncSetBlockShape
func sim_cuFuncSetBlockShape(h C.CUfunction, x, y, z C.int) C.CUresult {
	return onFunction(h, func(f *function) error {
		if x < 1 || y < 1 || z < 1 || int64(x)*int64(y)*int64(z) > int64(f.maxThreads()) {
			return invalidValue
		}
		f.prepared.block = dim(C.uint(x), C.uint(y), C.uint(z))
		return nil
	})
}

//export sim_cuFuncSetSharedSize
func sim_cuFuncSetSharedSize(h C.CUfunction, bytes C.uint) C.CUresult {
	return onFunction(h, func(f *function) error {
		if err := f.fits(uint32(bytes)); err != nil {
			return err
		}
		f.prepared.shared = uint32(bytes)
		return nil
	})
}

//export sim_cuParamSetSize
func sim_cuParamSetSize(h C.CUfunction, bytes C.uint) C.CUresult {
	return onFunction(h, func(f *function) error {
		if bytes > maxParams {
			return invalidValue
		}
		f.prepared.resize(int(bytes))
		return nil
	})
}

//export sim_cuParamSeti
func sim_cuParamSeti(h C.CUfunction, offset C.int, value C.uint) C.CUresult {
	return onFunction(h, func(f *function) error {
		return f.put(offset, binary.LittleEndian.AppendUint32(nil, uint32(value)))
	})
}

//export sim_cuParamSetf
func sim_cuParamSetf(h C.CUfunction, offset C.int, value C.float) C.CUresult {
	return onFunction(h, func(f *function) error {
		return f.put(offset, binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(value))))
	})
}

//export sim_cuParamSetv
func sim_cuParamSetv(h C.CUfunction, offset C.int, value unsafe.Pointer, bytes C.uint) C.CUresult {
	return onFunction(h, func(f *function) error {
		b, err := bytesAt(value, C.size_t(bytes))
		if err != nil {
			return err
		}
		return f.put(offset, b)
	})
}

// sim_cuParamSetTexRef only checks its arguments. Since CUDA 4.0 a kernel samples the references
// of its module without it.
//
//export sim_cuParamSetTexRef
func sim_cuParamSetTexRef(h C.CUfunction, unit C.int, ref C.CUtexref) C.CUresult {
	return onFunction(h, func(*function) error {
		if _, err := textureRefs.get(of(unsafe.Pointer(ref))); err != nil || unit != C.CU_PARAM_TR_DEFAULT {
			return invalidValue
		}
		return nil
	})
}

//export sim_cuLaunch
func sim_cuLaunch(h C.CUfunction) C.CUresult { return launchPrepared(h, 1, 1, nil) }

//export sim_cuLaunchGrid
func sim_cuLaunchGrid(h C.CUfunction, width, height C.int) C.CUresult {
	return launchPrepared(h, width, height, nil)
}

//export sim_cuLaunchGridAsync
func sim_cuLaunchGridAsync(h C.CUfunction, width, height C.int, st C.CUstream) C.CUresult {
	return launchPrepared(h, width, height, st)
}
