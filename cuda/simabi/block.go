//go:build cuda && cgo

package simabi

// #include <cuda.h>
// #include <sys/mman.h>
//
// static void *map_pages(uintptr_t hint, size_t n) {
// 	void *p = mmap((void *)hint, n, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE | MAP_NORESERVE, -1, 0);
// 	return p == MAP_FAILED ? NULL : p;
// }
import "C"

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/interp"
)

// blockKind is the call by which a block of memory was created.
type blockKind uint8

const (
	deviceBlock     blockKind = iota // cuMemAlloc, or from a pool
	pinnedBlock                      // cuMemAllocHost
	registeredBlock                  // cuMemHostRegister
	managedBlock                     // cuMemAllocManaged
)

// Linear memory is tracked twice. The device (sim.System) maps ranges of addresses to bytes and checks every access.
// blocks holds the driver's properties of an allocation: how it was created, its context, pool and flags.
//
//	kind             created by                            bytes                         the host can access it
//	deviceBlock      cuMemAlloc, cuMemAllocAsync           of the simulator              no
//	pinnedBlock      cuMemAllocHost, cuMemHostAlloc        mapped by this package        yes
//	registeredBlock  cuMemHostRegister                     of the program                yes
//	managedBlock     cuMemAllocManaged                     mapped by this package        yes
//
// Variables of modules, memory of graphs and mapped virtual memory have no block.

// block is one allocation. The memory of modules has no block.
type block struct {
	at         device.Ptr
	size       int64
	kind       blockKind
	context    *context // the context that allocated it
	pool       *pool    // the pool it was allocated from, or nil
	flags      C.uint   // the flags of the allocation
	id         uint64   // never reused
	pages      []byte   // host pages that the driver mapped for it
	shared     *memfd   // the file of the pages, if other processes can map them
	opens      int      // number of calls of cuIpcOpenMemHandle, 0 for memory of this process
	advices    advices
	freed      bool // by cuMemFreeAsync, which the stream may not have reached yet
	syncMemops bool // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: stored without effect, since all such calls are synchronous or ordered
}

// blocks are the live allocations of all contexts, by address. Addresses are
// unique.
var blocks = blockTable{}

type blockTable map[device.Ptr]*block

func init() { kinds = append(kinds, blocks) }

var lastBlockID uint64

// add adds a block under its address and gives it an id.
func (t blockTable) add(b *block) *block {
	lastBlockID++
	b.id = lastBlockID
	t[b.at] = b
	return b
}

// forget removes the memory that a context allocated.
func (t blockTable) forget(c *context) {
	for at, b := range t {
		if b.context == c {
			if b.kind != deviceBlock {
				driver.system.Withdraw(at)
			}
			if b.pool != nil {
				b.pool.forget(b)
			}
			t.drop(b)
		}
	}
}

// drop removes a block that was freed.
func (t blockTable) drop(b *block) {
	delete(t, b.at)
	if b.pages != nil {
		unmapHost(b.pages)
	}
	if b.shared != nil {
		b.shared.close()
	}
}

// at returns the block that contains an address, or nil.
func (t blockTable) at(p C.CUdeviceptr) *block {
	base, _, _ := driver.system.Range(device.Ptr(p))
	return t.starting(base)
}

// starting returns the block that starts at an address, or nil.
func (t blockTable) starting(at device.Ptr) *block {
	if b := t[at]; b != nil && !b.freed {
		return b
	}
	return nil
}

// onHost reports whether the host can access the bytes.
func (b *block) onHost() bool { return b != nil && b.kind != deviceBlock }

// free waits for the device and releases the block.
func (b *block) free() error {
	if err := b.context.sim.Free(b.at); err != nil {
		return err
	}
	if b.pool != nil {
		b.pool.forget(b)
	}
	blocks.drop(b)
	return nil
}

// nextPages is the address at which host memory is requested. Kernels access
// managed memory, and the hit rate of their caches depends on its addresses by a
// percent or two. At addresses chosen by the system, it would differ from run to
// run. If the address is free, it equals that of package sim for the same sequence
// of calls in Go.
var nextPages = interp.FirstHostAddress

// mapHost returns zeroed pages of the host that use no memory until they are
// touched.
func mapHost(n int64) ([]byte, error) {
	p := C.map_pages(C.uintptr_t(nextPages), C.size_t(n))
	if p == nil {
		return nil, status(C.CUDA_ERROR_OUT_OF_MEMORY)
	}
	nextPages = interp.AfterHost(nextPages, n)
	return unsafe.Slice((*byte)(p), n), nil
}

// unmapHost unmaps pages of mapHost or of a memfd.
func unmapHost(pages []byte) {
	if _, err := C.munmap(unsafe.Pointer(unsafe.SliceData(pages)), C.size_t(len(pages))); err != nil {
		panic(fmt.Sprintf("BUG: pages of host memory cannot be unmapped: %v", err))
	}
}

// lend makes host memory a block of the context.
func (c *context) lend(b []byte, kind blockKind, flags C.uint, name string) (*block, error) {
	lend := c.sim.LendHost
	if kind == managedBlock {
		lend = c.sim.LendManaged
	}
	at, err := lend(b, fmt.Sprintf("the %d bytes of %s memory", len(b), name))
	if err != nil {
		return nil, err
	}
	return blocks.add(&block{at: at, size: int64(len(b)), kind: kind, context: c, flags: flags}), nil
}

// lendPages is lend for memory that the driver maps.
func (c *context) lendPages(n int64, kind blockKind, flags C.uint, name string) (*block, error) {
	pages, err := mapHost(n)
	if err != nil {
		return nil, err
	}
	b, err := c.lend(pages, kind, flags, name)
	if err != nil {
		unmapHost(pages)
		return nil, err
	}
	b.pages = pages
	return b, nil
}

// length converts a size in bytes from C. It refuses half of the address space and
// more.
func length(n C.size_t) (int64, error) {
	if n > math.MaxInt64/2 {
		return 0, invalidValue
	}
	return int64(n), nil
}

// listAt returns an array that a program passes by its address. It refuses lengths
// beyond the address space, such as a negative number as a size.
func listAt[T any](p *T, n C.size_t) ([]T, error) {
	over, bytes := bits.Mul64(uint64(n), uint64(unsafe.Sizeof(*p)))
	switch {
	case n == 0:
		return nil, nil
	case p == nil, over != 0, bytes > math.MaxInt64, bytes > -uint64(uintptr(unsafe.Pointer(p))):
		return nil, invalidValue
	}
	return unsafe.Slice(p, n), nil
}

func bytesAt(p unsafe.Pointer, n C.size_t) ([]byte, error) { return listAt((*byte)(p), n) }
