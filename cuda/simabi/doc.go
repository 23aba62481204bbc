//go:build cuda

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
// One call runs at a time, whatever thread it comes from: call takes the driver's
// lock, finds the calling thread's state and converts the error into a CUresult. A
// context owns one sim.Device, so a fault in one context does not affect the
// others. All devices of the process are one sim.System: host and work share one
// virtual time, and work of all contexts runs in the order of that time. The lock is
// released while a function of the program runs, or while a stream waits for a value that
// has not been written yet.
//
// The null stream is the legacy one, which the device orders with blocking streams, or
// in functions of the _ptds and _ptsz kind the thread's own: forms.S has these
// names, which record that and continue in the function. Package capture decides the
// effect of a call on a stream that is being captured.
//
// Handles are numbers that are never reused and never dereferenced. A
// handle that is wrong, of another kind, or destroyed is therefore detected, with the result
// CUDA_ERROR_INVALID_HANDLE; a real driver may crash.
//
// In a child of fork, all calls return CUDA_ERROR_NOT_INITIALIZED, as with a real driver if the
// parent has called it; here also if it has not.
//
// $REPRISE_SIM lists the GPUs: profiles, or files that `reprise calibrate`
// wrote, separated by commas; the default is "h200". $CUDA_VISIBLE_DEVICES selects among
// them, by ordinal or UUID. The driver is that of CUDA 12.4.
// It compiles PTX for all of them, including PTX of a newer target than the GPU's,
// which a real one refuses. With $REPRISE_SIM_SAMPLE set to a number, only that many blocks of each
// launch are run: see sim.Options.Sample. With $REPRISE_SIM_RACE set, a call that waits returns
// CUDA_ERROR_UNKNOWN if unordered work has touched the same bytes: see sim.Options.Race.
package simabi

//go:generate go run ./internal/gentable
