// Package simabi is the CUDA driver API over the simulated GPU: the functions of
// libcuda.so.1, with their names, arguments, return codes and side effects.
//
//	C caller ─► cuMemAlloc_v2 ─► trampoline ─► simabi_cuMemAlloc_v2 ─► sim_cuMemAlloc_v2 ─► sim.Device
//	            (lazycuda, or libcudasim)      (gates.S)               (a Go export here)
//
// Each driver function is a Go function of the same name after "sim_", exported
// to C. Programs call its gate, of the same name after "simabi_", which keeps children of fork out of
// Go. table.c lists the gates for cuGetProcAddress and for a loader (simabi_lookup). All of these are
// generated from the exports. After adding one, run
//
//	go generate -tags cuda ./cuda/simabi
//
// # A call
//
// A call passes the following steps. call.go lists the wrappers that implement steps 3 to 6.
//
//  1. The gate stores the name of the function in thread-local memory, for explanations of errors. In a child of
//     fork it returns CUDA_ERROR_NOT_INITIALIZED, because Go's runtime has no threads there. (A real driver does so
//     only if the parent has called it.)
//  2. The Go export converts nothing: its parameters have C types.
//  3. The wrapper takes the driver's lock. One call runs at a time, from any thread.
//  4. It finds the state of the calling OS thread: the stack of contexts and the mode of captures.
//  5. It resolves the current context, or the object of a handle, and runs the body of the function.
//  6. It converts the error of the body into a CUresult and, with $REPRISE_SIM_VERBOSE set, explains it on standard
//     error.
//
// The lock is released while a function of the program runs, or while a stream waits for a value that
// has not been written yet (see outside).
//
// # Objects
//
// A context owns one sim.Device, so a fault in one context does not affect the
// others. All devices of the process are one sim.System: host and work share one
// virtual time, and work of all contexts runs in the order of that time.
//
//	process ─ sim.System
//	 ├─ gpu ─ primary context, pools
//	 │   └─ context ─ sim.Device
//	 │       ├─ module ─ function, texture and surface references
//	 │       ├─ stream, event
//	 │       ├─ array, texture, surface
//	 │       └─ graphExec
//	 ├─ block (linear memory), allocation (virtual memory)
//	 ├─ graph, graph node, user object
//	 └─ library ─ kernel
//
// Handles are numbers that are never reused and never dereferenced. A
// handle that is wrong, of another kind, or destroyed is therefore detected, with the result
// CUDA_ERROR_INVALID_HANDLE; a real driver may crash. handle.go describes the tables.
//
// # Streams
//
// The null stream is the legacy one, which the device orders with blocking streams. In
// functions of the _ptds and _ptsz kind it is the thread's own stream: forms.S defines these
// names, which set a flag of the thread and continue in the function. Package capture determines the
// effect of a call on a stream that is being captured.
//
// # Configuration
//
// $REPRISE_SIM lists the GPUs: profiles, or files that `reprise calibrate`
// wrote, separated by commas; the default is "h200". $CUDA_VISIBLE_DEVICES selects among
// them, by ordinal or UUID. $REPRISE_SIM_MACHINE names a machine instead, whose file also has the links between the GPUs;
// the process has those of rank $REPRISE_SIM_RANK, of its rank under MPI, or of rank 0. The driver is that of CUDA 12.4.
// It compiles PTX for all of them, including PTX of a newer target than the GPU's,
// which a real one refuses. With $REPRISE_SIM_SAMPLE set to a number, only that many blocks of each
// launch are run: see sim.Options.Sample. With $REPRISE_SIM_RACE set, a call that waits returns
// CUDA_ERROR_UNKNOWN if unordered work has touched the same bytes: see sim.Options.Race.
package simabi

//go:generate go run ./internal/gentable
