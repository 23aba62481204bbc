//go:build cuda

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

// blockKind says what a block of memory is.
type blockKind uint8

const (
	deviceBlock     blockKind = iota // cuMemAlloc, or from a pool
	pinnedBlock                      // cuMemAllocHost
	registeredBlock                  // cuMemHostRegister
	managedBlock                     // cuMemAllocManaged
)

// block is one allocation. Those of modules have none.
type block struct {
	at         device.Ptr
	size       int64
	kind       blockKind
	context    *context // that allocated it
	pool       *pool    // it is from, or nil
	flags      C.uint   // it was asked for with
	id         uint64   // never used again
	pages      []byte   // that the driver mapped for it
	shared     *memfd   // of the pages, if other processes can map them
	opens      int      // by cuIpcOpenMemHandle, 0 for memory of this process
	advices    advices
	freed      bool // by cuMemFreeAsync, though the stream may not have come to it
	syncMemops bool // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: kept, since all such calls are synchronous or ordered
}

// blocks are the live allocations of all contexts, by address: no two have one.
var blocks = blockTable{}

type blockTable map[device.Ptr]*block

func init() { kinds = append(kinds, blocks) }

var lastBlockID uint64

func (t blockTable) add(b *block) *block {
	lastBlockID++
	b.id = lastBlockID
	t[b.at] = b
	return b
}

// forget ends the life of the memory that a context allocated.
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

// drop forgets a block that was freed.
func (t blockTable) drop(b *block) {
	delete(t, b.at)
	if b.pages != nil {
		unmapHost(b.pages)
	}
	if b.shared != nil {
		b.shared.close()
	}
}

// at is the block that holds an address, or nil.
func (t blockTable) at(p C.CUdeviceptr) *block {
	base, _, _ := driver.system.Range(device.Ptr(p))
	return t.starting(base)
}

// starting is the block that starts at an address, or nil.
func (t blockTable) starting(at device.Ptr) *block {
	if b := t[at]; b != nil && !b.freed {
		return b
	}
	return nil
}

// onHost reports whether the host may touch the bytes.
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

// nextPages is where host memory is asked for. Kernels reach managed memory, and what
// their caches make of it depends on its addresses by a percent or two: where the system
// puts it, they would differ from run to run. Where it can be had, it is what a device of
// package sim gives a program in Go for the same sequence of calls.
var nextPages = interp.FirstHostAddress

// mapHost returns zeroed pages of the host that cost nothing until they are touched.
func mapHost(n int64) ([]byte, error) {
	p := C.map_pages(C.uintptr_t(nextPages), C.size_t(n))
	if p == nil {
		return nil, status(C.CUDA_ERROR_OUT_OF_MEMORY)
	}
	nextPages = interp.AfterHost(nextPages, n)
	return unsafe.Slice((*byte)(p), n), nil
}

func unmapHost(pages []byte) {
	if _, err := C.munmap(unsafe.Pointer(unsafe.SliceData(pages)), C.size_t(len(pages))); err != nil {
		panic(fmt.Sprintf("BUG: pages of host memory cannot be unmapped: %v", err))
	}
}

// lend makes memory of the host a block of the context.
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

// length is a size that C gave as a number of bytes: none has as many as half of all
// addresses.
func length(n C.size_t) (int64, error) {
	if n > math.MaxInt64/2 {
		return 0, invalidValue
	}
	return int64(n), nil
}

// listAt is an array that a program passes by its address, if addresses can hold one so
// long: a negative number as a size cannot be one.
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
