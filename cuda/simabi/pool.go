//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

var pools handles[*pool]

// Memory of a pool passes through three states, whose bytes the pool counts:
//
//	        alloc                  cuMemFreeAsync               the stream reaches the free
//	GPU ──────────────► used ───────────────────────► freeing ───────────────────────────────► kept
//	 ▲                   ▲                                                                       │
//	 │                   └──────────────────── alloc, from kept memory first ────────────────────┤
//	 └─────────────────── trim: beyond the release threshold, or cuMemPoolTrimTo ────────────────┘
//
//	reserved = used + freeing + kept
//
// Counts are of bytes only: an allocation from kept memory gets a new address, so fragmentation is not simulated. If
// the GPU has too little memory, alloc waits for all pending frees and returns kept memory before it tries again.

// pool keeps freed device memory for later allocations. Memory beyond the release
// threshold is returned to the GPU when the free has completed and a call waits for
// it.
type pool struct {
	handle    handle
	gpu       *gpu
	props     C.CUmemPoolProps
	used      int64 // bytes allocated, in the order of streams
	usedHigh  int64
	freeing   int64 // bytes of pending frees
	kept      int64 // free bytes that are reserved on the GPU
	high      int64 // maximum of the reserved bytes
	threshold uint64
	reuse     [3]C.int // CU_MEMPOOL_ATTR_REUSE_*
}

func (*pool) owner() *context { return nil }

// newPool returns a pool with a handle. Reuse of freed memory is permitted, and the release threshold is 0.
func newPool(g *gpu, props C.CUmemPoolProps) *pool {
	p := &pool{gpu: g, props: props, reuse: [3]C.int{1, 1, 1}}
	p.handle = pools.add(p)
	return p
}

// defaultPool returns the pool that every GPU has.
func (g *gpu) defaultPool() *pool {
	if g.firstPool == nil {
		var props C.CUmemPoolProps
		props.allocType = C.CU_MEM_ALLOCATION_TYPE_PINNED
		props.location._type = C.CU_MEM_LOCATION_TYPE_DEVICE
		props.location.id = C.int(g.ordinal)
		g.firstPool = newPool(g, props)
	}
	return g.firstPool
}

// currentPool returns the pool of cuMemAllocAsync.
func (g *gpu) currentPool() *pool {
	if g.pool == nil {
		return g.defaultPool()
	}
	return g.pool
}

// poolOf returns the pool of a handle. As documented, a wrong handle is an invalid value.
func poolOf(h C.CUmemoryPool) (*pool, error) {
	p, err := pools.get(of(unsafe.Pointer(h)))
	if err != nil {
		return nil, invalidValue
	}
	return p, nil
}

// reserved returns the bytes that the pool holds on the GPU.
func (p *pool) reserved() int64 { return p.used + p.freeing + p.kept }

// keep changes the number of free bytes that are reserved on the GPU by n.
func (p *pool) keep(n int64) {
	if !p.gpu.sim.Reserve(n - p.kept) {
		panic("BUG: a pool keeps more than was freed into it")
	}
	p.kept = n
	p.high = max(p.high, p.reserved())
}

// trim returns free memory to the GPU, and keeps at least least bytes reserved.
func (p *pool) trim(least uint64) {
	if most := max(0, int64(min(least, 1<<62))-p.used); p.kept > most { // pending frees do not count: they are returned later
		p.keep(most)
	}
}

// alloc allocates for a stream, from kept memory first. If memory is short, it
// waits for pending frees.
func (p *pool) alloc(s *stream, n C.size_t) (*block, error) {
	if n == 0 {
		return nil, invalidValue
	}
	c := s.context
	if c.gpu != p.gpu {
		return nil, invalidValue
	}
	if p.props.maxSize > 0 && (n > p.props.maxSize || C.size_t(p.used) > p.props.maxSize-n) {
		return nil, status(C.CUDA_ERROR_OUT_OF_MEMORY)
	}
	again := min(p.kept, int64(min(n, 1<<62)))
	p.keep(p.kept - again)
	at, err := c.sim.AllocPooled(int64(min(n, 1<<62)))
	if device.CodeOf(err) == device.OutOfMemory {
		if err := c.sim.SynchronizeAll(); err != nil {
			return nil, err
		}
		p.keep(0)
		at, err = c.sim.AllocPooled(int64(min(n, 1<<62)))
	}
	if err != nil {
		p.keep(p.kept + min(again, max(0, p.gpu.free())))
		return nil, err
	}
	p.used += int64(n)
	p.usedHigh, p.high = max(p.usedHigh, p.used), max(p.high, p.reserved())
	return blocks.add(&block{at: at, size: int64(n), context: c, pool: p}), nil
}

// free returns the free memory of the GPU in bytes.
func (g *gpu) free() int64 {
	f, _ := g.sim.Memory()
	return f
}

// forget subtracts a destroyed block from the pool's counts.
func (p *pool) forget(b *block) {
	if b.freed {
		p.freeing -= b.size
	} else {
		p.used -= b.size
	}
}

// freeIn frees a block when the stream reaches this point. The block is invalid for
// calls at once.
func (s *stream) freeIn(b *block) error {
	done := func() {
		if p := b.pool; p != nil {
			p.forget(b)
			p.keep(p.kept + b.size)
			p.trim(p.threshold)
		}
		blocks.drop(b)
	}
	if err := s.submit(&sim.Release{At: b.at, Done: done}); err != nil {
		return err
	}
	if p := b.pool; p != nil {
		p.used -= b.size
		p.freeing += b.size
	}
	b.freed = true
	return nil
}

// allocInto stores the result of alloc. In a captured stream it adds a node, which
// allocates at the same address in each launch.
func (p *pool) allocInto(out *C.CUdeviceptr, s *stream, n C.size_t) error {
	if s.capture.Capturing() {
		return s.captureAlloc(out, &C.CUDA_MEM_ALLOC_NODE_PARAMS_v1{poolProps: p.props, bytesize: n})
	}
	b, err := p.alloc(s, n)
	if err == nil {
		*out = C.CUdeviceptr(b.at)
	}
	return err
}

//export sim_cuMemAllocAsync
func sim_cuMemAllocAsync(out *C.CUdeviceptr, n C.size_t, h C.CUstream) C.CUresult {
	return inStream(h, func(s *stream) error {
		if out == nil {
			return invalidValue
		}
		return s.context.gpu.currentPool().allocInto(out, s, n)
	})
}

//export sim_cuMemAllocFromPoolAsync
func sim_cuMemAllocFromPoolAsync(out *C.CUdeviceptr, n C.size_t, pool C.CUmemoryPool, h C.CUstream) C.CUresult {
	return inStream(h, func(s *stream) error {
		p, err := poolOf(pool)
		if err != nil || out == nil {
			return invalidValue
		}
		return p.allocInto(out, s, n)
	})
}

// sim_cuMemFreeAsync frees memory of cuMemAlloc, of a pool, or of a graph's allocation node when the stream reaches the
// call. In a captured stream, memory of a graph is freed by a node.
//
//export sim_cuMemFreeAsync
func sim_cuMemFreeAsync(p C.CUdeviceptr, h C.CUstream) C.CUresult {
	return inStream(h, func(s *stream) error {
		if p == 0 {
			return nil
		}
		m := graphMemories[device.Ptr(p)]
		switch b := blocks.starting(device.Ptr(p)); {
		case m != nil && s.capture.Capturing():
			return s.add(&freeNode{m})
		case m != nil:
			return m.freeIn(s)
		case b == nil || b.kind != deviceBlock || b.opens > 0:
			return invalidValue
		default:
			return s.freeIn(b)
		}
	})
}

// inPool is call for a function of a pool.
func inPool(h C.CUmemoryPool, body func(*pool) error) C.CUresult {
	return call(func(*thread) error {
		p, err := poolOf(h)
		if err != nil {
			return err
		}
		return body(p)
	})
}

// ofGPU stores a pool of a GPU.
func ofGPU(out *C.CUmemoryPool, dev C.CUdevice, which func(*gpu) *pool) C.CUresult {
	return call(func(*thread) error {
		g, err := gpuOf(dev)
		switch {
		case err != nil:
			return err
		case out == nil:
			return invalidValue
		}
		which(g).handle.put(unsafe.Pointer(out))
		return nil
	})
}

//export sim_cuDeviceGetDefaultMemPool
func sim_cuDeviceGetDefaultMemPool(out *C.CUmemoryPool, dev C.CUdevice) C.CUresult {
	return ofGPU(out, dev, (*gpu).defaultPool)
}

//export sim_cuDeviceGetMemPool
func sim_cuDeviceGetMemPool(out *C.CUmemoryPool, dev C.CUdevice) C.CUresult {
	return ofGPU(out, dev, (*gpu).currentPool)
}

//export sim_cuDeviceSetMemPool
func sim_cuDeviceSetMemPool(dev C.CUdevice, h C.CUmemoryPool) C.CUresult {
	return inPool(h, func(p *pool) error {
		g, err := gpuOf(dev)
		if err != nil {
			return err
		}
		if p.gpu != g {
			return invalidValue
		}
		g.pool = p
		return nil
	})
}

//export sim_cuMemPoolCreate
func sim_cuMemPoolCreate(out *C.CUmemoryPool, props *C.CUmemPoolProps) C.CUresult {
	return call(func(*thread) error {
		if out == nil || props == nil || props.allocType != C.CU_MEM_ALLOCATION_TYPE_PINNED ||
			props.location._type != C.CU_MEM_LOCATION_TYPE_DEVICE {
			return invalidValue
		}
		if props.handleTypes != C.CU_MEM_HANDLE_TYPE_NONE {
			return notSupported // other processes cannot open it
		}
		g, err := gpuOf(C.CUdevice(props.location.id))
		if err != nil {
			return invalidValue
		}
		newPool(g, *props).handle.put(unsafe.Pointer(out))
		return nil
	})
}

// sim_cuMemPoolDestroy does not free the allocations from the pool.
//
//export sim_cuMemPoolDestroy
func sim_cuMemPoolDestroy(h C.CUmemoryPool) C.CUresult {
	return inPool(h, func(p *pool) error {
		if p == p.gpu.firstPool {
			return invalidValue
		}
		if p.gpu.pool == p {
			p.gpu.pool = nil
		}
		p.threshold = 0
		p.trim(0)
		_, err := pools.remove(p.handle)
		return err
	})
}

// sim_cuMemPoolTrimTo returns kept memory to the GPU until at most least bytes are reserved, as far as memory is free.
//
//export sim_cuMemPoolTrimTo
func sim_cuMemPoolTrimTo(h C.CUmemoryPool, least C.size_t) C.CUresult {
	return inPool(h, func(p *pool) error {
		p.trim(uint64(least))
		return nil
	})
}

// flag returns the variable of a CU_MEMPOOL_ATTR_REUSE_* attribute, or nil.
func (p *pool) flag(a C.CUmemPool_attribute) *C.int {
	if i := int(a) - C.CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES; i >= 0 && i < len(p.reuse) {
		return &p.reuse[i]
	}
	return nil
}

//export sim_cuMemPoolSetAttribute
func sim_cuMemPoolSetAttribute(h C.CUmemoryPool, a C.CUmemPool_attribute, value unsafe.Pointer) C.CUresult {
	return inPool(h, func(p *pool) error {
		if value == nil {
			return invalidValue
		}
		if f := p.flag(a); f != nil {
			*f = *(*C.int)(value)
			return nil
		}
		n := *(*uint64)(value)
		switch {
		case a == C.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
			p.threshold = n
		case a == C.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH && n == 0:
			p.high = p.reserved()
		case a == C.CU_MEMPOOL_ATTR_USED_MEM_HIGH && n == 0:
			p.usedHigh = p.used
		default:
			return invalidValue
		}
		return nil
	})
}

//export sim_cuMemPoolGetAttribute
func sim_cuMemPoolGetAttribute(h C.CUmemoryPool, a C.CUmemPool_attribute, value unsafe.Pointer) C.CUresult {
	return inPool(h, func(p *pool) error {
		if value == nil {
			return invalidValue
		}
		if f := p.flag(a); f != nil {
			*(*C.int)(value) = *f
			return nil
		}
		out := (*uint64)(value)
		switch a {
		case C.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
			*out = p.threshold
		case C.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
			*out = uint64(p.reserved())
		case C.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
			*out = uint64(p.high)
		case C.CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
			*out = uint64(p.used)
		case C.CU_MEMPOOL_ATTR_USED_MEM_HIGH:
			*out = uint64(p.usedHigh)
		default:
			return invalidValue
		}
		return nil
	})
}

// sim_cuMemPoolSetAccess accepts only the existing rights: the pool's own GPU has access.
// Another GPU gets access by cuCtxEnablePeerAccess.
//
//export sim_cuMemPoolSetAccess
func sim_cuMemPoolSetAccess(h C.CUmemoryPool, list *C.CUmemAccessDesc, n C.size_t) C.CUresult {
	return inPool(h, func(p *pool) error {
		if list == nil && n > 0 || n > C.size_t(len(driver.gpus)) {
			return invalidValue
		}
		for _, d := range unsafe.Slice(list, n) {
			g, err := gpuOf(C.CUdevice(d.location.id))
			switch {
			case d.location._type != C.CU_MEM_LOCATION_TYPE_DEVICE || err != nil:
				return invalidValue
			case g != p.gpu && d.flags != C.CU_MEM_ACCESS_FLAGS_PROT_NONE:
				return notSupported
			case g == p.gpu && d.flags != C.CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
				return invalidValue
			}
		}
		return nil
	})
}

//export sim_cuMemPoolGetAccess
func sim_cuMemPoolGetAccess(flags *C.CUmemAccess_flags, h C.CUmemoryPool, at *C.CUmemLocation) C.CUresult {
	return inPool(h, func(p *pool) error {
		if flags == nil || at == nil || at._type != C.CU_MEM_LOCATION_TYPE_DEVICE {
			return invalidValue
		}
		g, err := gpuOf(C.CUdevice(at.id))
		if err != nil {
			return invalidValue
		}
		*flags = C.CU_MEM_ACCESS_FLAGS_PROT_NONE
		if g == p.gpu {
			*flags = C.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
		}
		return nil
	})
}
