//go:build !unix

package interp

import "unsafe"

// mapping is not used where there is no mmap.
type mapping struct{}

// mapPages allocates from the Go heap.
func (a *allocation) mapPages() error {
	a.words = make([]uint64, (a.size+7)/8+1)
	a.data = unsafe.Pointer(&a.words[0])
	return nil
}

func (a *allocation) keepPages() {}

func (a *allocation) unmap() {}
