//go:build cuda && cgo

package simabi

// #include <stdlib.h>
// #include "thread.h"
import "C"

import "unsafe"

// Lookup returns the address of the driver function of that exact name, suffix
// included, or nil.
func Lookup(symbol string) unsafe.Pointer {
	name := C.CString(symbol)
	defer C.free(unsafe.Pointer(name))
	return C.simabi_lookup(name)
}
