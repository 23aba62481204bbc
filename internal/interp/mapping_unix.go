//go:build unix

package interp

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"
)

// mapping is memory from the system. It is unmapped when the allocation is freed, or
// garbage collected with a memory that was never closed.
type mapping struct {
	pages   []byte
	cleanup runtime.Cleanup
}

// mapPages allocates zeroed pages from the system.
func (a *allocation) mapPages() error {
	pages, err := syscall.Mmap(-1, 0, int(a.size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|noReserve)
	if err != nil {
		return err
	}
	a.data = unsafe.Pointer(&pages[0])
	a.pages = mapping{pages, runtime.AddCleanup(a, unmapPages, pages)}
	return nil
}

// keepPages keeps the pages mapped after the allocation is garbage collected.
func (a *allocation) keepPages() { a.pages.cleanup.Stop() }

// unmap unmaps the pages, if there are any.
func (a *allocation) unmap() {
	if a.pages.pages == nil {
		return
	}
	a.pages.cleanup.Stop()
	unmapPages(a.pages.pages)
	a.pages, a.data = mapping{}, nil
}

// unmapPages returns pages to the system.
func unmapPages(pages []byte) {
	if err := syscall.Munmap(pages); err != nil {
		panic(fmt.Sprintf("BUG: pages of a device allocation cannot be unmapped: %v", err))
	}
}
