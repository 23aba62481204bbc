//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

// There is no profiler to start or stop: both functions succeed without effect.

//export sim_cuProfilerStart
func sim_cuProfilerStart() C.CUresult {
	return inContext(func(*context) error { return nil })
}

//export sim_cuProfilerStop
func sim_cuProfilerStop() C.CUresult {
	return inContext(func(*context) error { return nil })
}
