package interp

import "unsafe"

// mapFrom is how large an allocation must be to get pages of its own from the
// system: they cost nothing until they are touched, where the Go heap zeroes, and so
// touches, what it has used before; and the garbage collector does not count them.
// Below it, there could be more mappings than a process may have.
const mapFrom = 1 << 20

// back gives an allocation zeroed memory of this process.
func (a *allocation) back() error {
	if a.size < mapFrom {
		a.words = make([]uint64, (a.size+7)/8+1)
		a.data = unsafe.Pointer(&a.words[0])
		return nil
	}
	return a.mapPages()
}
