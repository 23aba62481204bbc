//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// Memory operations of streams: waits for a word of memory and stores to one, of 32 or 64 bits. A wait compares the
// word (w) with a value (v):
//
//	GEQ   (int)(w - v) >= 0      EQ   w == v
//	AND   (w & v) != 0           NOR  ^(w | v) != 0
//
// The stream, and no other, is blocked until the comparison holds. A batch of up to maxBatch operations is one piece of
// work: it is checked as a whole before any operation runs.

// values enqueues operations on words of memory, all or none.
func values(h C.CUstream, ops ...sim.ValueOp) C.CUresult {
	return inStream(h, func(s *stream) error {
		if len(ops) == 0 {
			return s.context.sim.Err()
		}
		if s.capture.Capturing() {
			v := &valueNode{s.context, ops}
			if err := check(v); err != nil {
				return err
			}
			return s.add(v)
		}
		return s.submit(&sim.Values{Ops: ops})
	})
}

// waitFor returns a wait with the driver's flags. One flag requests a flush of
// remote writes, which is always done.
func waitFor(p C.CUdeviceptr, width int, value uint64, flags C.uint) sim.ValueOp {
	kind := sim.ValueKind(flags &^ C.CU_STREAM_WAIT_VALUE_FLUSH)
	if flags&^C.CU_STREAM_WAIT_VALUE_FLUSH > C.CU_STREAM_WAIT_VALUE_NOR {
		kind = unknownValueKind
	}
	return sim.ValueOp{Kind: kind, Ptr: device.Ptr(p), Value: value, Width: width}
}

// writeTo returns a store with the driver's flags. The only flag omits the
// visibility of earlier work, which is always ensured.
func writeTo(p C.CUdeviceptr, width int, value uint64, flags C.uint) sim.ValueOp {
	kind := sim.WriteValue
	if flags&^C.CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER != 0 {
		kind = unknownValueKind
	}
	return sim.ValueOp{Kind: kind, Ptr: device.Ptr(p), Value: value, Width: width}
}

// unknownValueKind is refused by the device.
const unknownValueKind = sim.ValueKind(255)

//export sim_cuStreamWaitValue32_v2
func sim_cuStreamWaitValue32_v2(h C.CUstream, p C.CUdeviceptr, value C.cuuint32_t, flags C.uint) C.CUresult {
	return values(h, waitFor(p, 4, uint64(value), flags))
}

//export sim_cuStreamWaitValue64_v2
func sim_cuStreamWaitValue64_v2(h C.CUstream, p C.CUdeviceptr, value C.cuuint64_t, flags C.uint) C.CUresult {
	return values(h, waitFor(p, 8, uint64(value), flags))
}

//export sim_cuStreamWriteValue32_v2
func sim_cuStreamWriteValue32_v2(h C.CUstream, p C.CUdeviceptr, value C.cuuint32_t, flags C.uint) C.CUresult {
	return values(h, writeTo(p, 4, uint64(value), flags))
}

//export sim_cuStreamWriteValue64_v2
func sim_cuStreamWriteValue64_v2(h C.CUstream, p C.CUdeviceptr, value C.cuuint64_t, flags C.uint) C.CUresult {
	return values(h, writeTo(p, 8, uint64(value), flags))
}

// sim_cuStreamBatchMemOp_v2 enqueues operations that run in the order of the array.
//
//export sim_cuStreamBatchMemOp_v2
func sim_cuStreamBatchMemOp_v2(h C.CUstream, n C.uint, params *C.CUstreamBatchMemOpParams, flags C.uint) C.CUresult {
	ops, ok := batch(n, params)
	if !ok || flags != 0 {
		return values(h, sim.ValueOp{Kind: unknownValueKind})
	}
	return values(h, ops...)
}

// The first versions had to be enabled by the machine's administrator. Otherwise they
// are the same.

//export sim_cuStreamWaitValue32
func sim_cuStreamWaitValue32(h C.CUstream, p C.CUdeviceptr, value C.cuuint32_t, flags C.uint) C.CUresult {
	return values(h, waitFor(p, 4, uint64(value), flags))
}

//export sim_cuStreamWaitValue64
func sim_cuStreamWaitValue64(h C.CUstream, p C.CUdeviceptr, value C.cuuint64_t, flags C.uint) C.CUresult {
	return values(h, waitFor(p, 8, uint64(value), flags))
}

//export sim_cuStreamWriteValue32
func sim_cuStreamWriteValue32(h C.CUstream, p C.CUdeviceptr, value C.cuuint32_t, flags C.uint) C.CUresult {
	return values(h, writeTo(p, 4, uint64(value), flags))
}

//export sim_cuStreamWriteValue64
func sim_cuStreamWriteValue64(h C.CUstream, p C.CUdeviceptr, value C.cuuint64_t, flags C.uint) C.CUresult {
	return values(h, writeTo(p, 8, uint64(value), flags))
}

//export sim_cuStreamBatchMemOp
func sim_cuStreamBatchMemOp(h C.CUstream, n C.uint, params *C.CUstreamBatchMemOpParams, flags C.uint) C.CUresult {
	return sim_cuStreamBatchMemOp_v2(h, n, params, flags)
}

// memOpAt returns an operation of an array as a wait. It is a union in which stores
// have the same layout.
func memOpAt(params *C.CUstreamBatchMemOpParams, i int) *C.struct_CUstreamMemOpWaitValueParams_st {
	return (*C.struct_CUstreamMemOpWaitValueParams_st)(unsafe.Add(unsafe.Pointer(params), i*C.sizeof_CUstreamBatchMemOpParams))
}

// memOp returns the driver's name for an operation, and its flags.
func memOp(o *sim.ValueOp) (operation C.CUstreamBatchMemOpType, flags C.uint) {
	switch {
	case o.Kind == sim.WriteValue && o.Width == 4:
		return C.CU_STREAM_MEM_OP_WRITE_VALUE_32, C.CU_STREAM_WRITE_VALUE_DEFAULT
	case o.Kind == sim.WriteValue:
		return C.CU_STREAM_MEM_OP_WRITE_VALUE_64, C.CU_STREAM_WRITE_VALUE_DEFAULT
	case o.Width == 4:
		return C.CU_STREAM_MEM_OP_WAIT_VALUE_32, C.uint(o.Kind)
	}
	return C.CU_STREAM_MEM_OP_WAIT_VALUE_64, C.uint(o.Kind)
}

// maxBatch is the documented limit of a batch.
const maxBatch = 256

// batch reads operations from a C array. Flushes and barriers have no effect, since
// all stores are visible.
func batch(n C.uint, params *C.CUstreamBatchMemOpParams) ([]sim.ValueOp, bool) {
	if n == 0 || n > maxBatch || params == nil {
		return nil, n == 0
	}
	var ops []sim.ValueOp
	for i := range unsafe.Slice(params, n) {
		w := memOpAt(params, i)
		value := *(*uint64)(unsafe.Pointer(&w.anon0))
		switch w.operation {
		case C.CU_STREAM_MEM_OP_WAIT_VALUE_32:
			ops = append(ops, waitFor(w.address, 4, value, w.flags))
		case C.CU_STREAM_MEM_OP_WAIT_VALUE_64:
			ops = append(ops, waitFor(w.address, 8, value, w.flags))
		case C.CU_STREAM_MEM_OP_WRITE_VALUE_32:
			ops = append(ops, writeTo(w.address, 4, value, w.flags))
		case C.CU_STREAM_MEM_OP_WRITE_VALUE_64:
			ops = append(ops, writeTo(w.address, 8, value, w.flags))
		case C.CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES, C.CU_STREAM_MEM_OP_BARRIER:
		default:
			return nil, false
		}
	}
	return ops, true
}
