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
// lock, finds the calling thread's state and turns the error into a CUresult. A
// context owns one sim.Device, so that a fault that poisons one context leaves the
// others alone. All devices of the process are one sim.System: host and work have one
// virtual time, and work of all contexts runs in the order of that. The lock is
// given up while a function of the program runs, or a stream waits for a value that
// nobody has written yet.
//
// The null stream is the legacy one, which the device orders with blocking streams, or
// in functions of the _ptds and _ptsz kind the thread's own: forms.S has these
// names, which note that and go on in the function. What a stream that is being
// captured makes of a call is decided by package capture.
//
// Handles are numbers that are never given out twice and never dereferenced, so a
// handle that is wrong, of another kind, or was destroyed is found and answered with
// CUDA_ERROR_INVALID_HANDLE; a real driver may crash.
//
// A child of fork is answered CUDA_ERROR_NOT_INITIALIZED, as by a real driver when the
// parent has called it; here also when it has not.
//
// $REPRISE_SIM says what GPUs there are: profiles, or files that `reprise calibrate`
// wrote, separated by commas; "h200" when it is not set. $CUDA_VISIBLE_DEVICES selects among
// them, by ordinal or UUID. A driver of CUDA 12.4 runs
// them. It compiles PTX for any of them, also PTX of a newer target than the GPU's,
// which a real one refuses. With $REPRISE_SIM_SAMPLE set to a number, so many blocks of each
// launch are run: see sim.Options.Sample. With $REPRISE_SIM_RACE set, a call that waits answers
// CUDA_ERROR_UNKNOWN where work has touched the same bytes in no order: see sim.Options.Race.
package simabi

//go:generate go run ./internal/gentable
