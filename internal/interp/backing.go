package interp

import "unsafe"

// mapFrom is the size from which an allocation gets pages of its own from the system.
// Such pages cost nothing until they are touched, and the garbage collector does not
// count them. The Go heap, in contrast, zeroes and thereby touches memory that it
// reuses. A lower limit could exceed the number of mappings that a process may have.
const mapFrom = 1 << 20

// back allocates zeroed host memory for an allocation.
func (a *allocation) back() error {
	if a.size < mapFrom {
		a.words = make([]uint64, (a.size+7)/8+1)
		a.data = unsafe.Pointer(&a.words[0])
		return nil
	}
	return a.mapPages()
}
