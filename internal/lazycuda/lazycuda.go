//go:build cuda && cgo

package lazycuda

// #cgo CFLAGS: -I${SRCDIR}/../../cuda/include
// #cgo LDFLAGS: -lcuda -ldl -lpthread
// #include "lazycuda.h"
// #include "reprise.h"
import "C"

import "time"

// Provider returns the provider of the driver's functions: "sim", the path of the opened library, or "" if there is
// no driver.
func Provider() string { return C.GoString(C.lazycuda_provider()) }

// Problem returns why there is no driver, or "" if there is one.
func Problem() string { return C.GoString(C.lazycuda_problem()) }

// Simulated reports whether the provider is a simulator, in this program or from libcudasim.so.
func Simulated() bool { return C.lazycuda_simulated() != 0 }

// InitResult returns the provider's result of cuInit. Callers of cuInit get success in any case.
func InitResult() int { return int(C.lazycuda_init_result()) }

// Now returns the clock on which driver functions take time: virtual time for the simulator, real time otherwise.
// Only differences are meaningful.
func Now() time.Duration { return time.Duration(C.repriseNow()) }

// Calls returns the number of driver calls of the process, or 0 if the provider is a GPU's driver.
func Calls() uint64 { return uint64(C.repriseCalls()) }

// Count switches the counting of Calls on or off. Only the null driver switches it off, because counting takes longer
// than its functions.
func Count(on bool) {
	var n C.int
	if on {
		n = 1
	}
	C.repriseCount(n)
}
