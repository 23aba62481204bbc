//go:build cuda

package lazycuda

// #cgo CFLAGS: -I${SRCDIR}/../include
// #cgo LDFLAGS: -lcuda -ldl -lpthread
// #include "lazycuda.h"
// #include "reprise.h"
import "C"

import "time"

// Provider is what answers the driver's functions: "sim", the path of the library that
// was opened, or "" if there is no driver.
func Provider() string { return C.GoString(C.lazycuda_provider()) }

// Problem says why there is no driver; it is "" if there is one.
func Problem() string { return C.GoString(C.lazycuda_problem()) }

// Simulated reports whether a simulator answers, be it of this program or libcudasim.so.
func Simulated() bool { return C.lazycuda_simulated() != 0 }

// InitResult is the code that the provider answered to cuInit, whose caller is told
// success in any case.
func InitResult() int { return int(C.lazycuda_init_result()) }

// Now is the clock that the driver's functions take time on: the simulator's virtual one
// if it answers them. Only differences mean something.
func Now() time.Duration { return time.Duration(C.repriseNow()) }

// Calls is how many calls of driver functions the process has made, 0 when a GPU's
// driver answers.
func Calls() uint64 { return uint64(C.repriseCalls()) }

// Count has Calls count from now on, or not. Only a driver that does nothing need not: it takes longer than its calls.
func Count(on bool) {
	var n C.int
	if on {
		n = 1
	}
	C.repriseCount(n)
}
