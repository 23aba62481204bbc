// Package cuda implements device.Device for a GPU. It uses gorgonia.org/cu for contexts, memory, modules, functions,
// streams, events and empty graphs, and one cgo file, driver.go with driver.c, for functions that gorgonia.org/cu
// lacks or implements incorrectly.
//
//	                 device.Device
//	any goroutine ──► d.mu ──┬─► executor: a goroutine ──► gorgonia.org/cu ──┐
//	                         │   that keeps an OS thread                     ├─► libcuda.a ──► the driver, or the
//	                         └─► driver.c, on the caller's thread ───────────┘   (lazycuda)    simulator with
//	                                                                                           REPRISE_LIBCUDA=sim
//
// # Threads
//
// A driver's context is current on OS threads, and Go moves goroutines between threads. The callers of a device need
// not care: calls may come from any goroutine. One call runs at a time, except that others proceed during a wait for
// a stream.
//
// Set-up calls go to the executor, a goroutine with an OS thread on which the context stays current, as the functions
// of gorgonia.org/cu require. The calls of a replay (Submit, SubmitCommands, LaunchGraph, Record, Wait, Synchronize,
// and building graphs) are each one call into driver.c, which pushes the context, does the work and pops the context.
// A call through the executor costs two switches between OS threads (see BenchmarkHandOver), which is more than a
// graph launch. Pushing and popping cost two calls that the driver answers from memory. Only
// host calls make these calls allocate.
//
// # Memory
//
// Everything that the driver keeps a pointer to is C memory: pinned bytes come from cuMemHostAlloc, commands and
// their parameter blocks from calloc. Go memory is passed only to calls that copy it before they return.
//
// # Calls into C
//
// A work becomes a C record (struct step), together with the waits before it and the record of an event after it.
// Submit passes one step. A command list is an array of steps, which SubmitCommands walks in C, any number of times.
// Graph nodes are added and updated from the same records. UpdateCommand changes a record in place, because a driver
// has copied all it needs when an enqueuing call returns. The commands of a list are checked in Go once, and again
// after a stream, an event or an instance was destroyed. `make bench-host` measures the cost. Graphs are uploaded
// when a list that launches them is compiled, not by the first launch.
//
// # Several GPUs
//
// Devices of several GPUs are peers where the driver permits it. With unified addressing, the address of a copy selects
// the memory, whichever context is current, and an event may be of another context. Each copy is checked against the
// allocations of its device and then of the other devices. A destroyed event of another device
// makes a list check its handles again, like one of the device itself.
//
// # Host calls
//
// The driver receives a handle (runtime/cgo) and calls back on a thread of its own. The handle lives as long as a
// list, a graph or an instance may enqueue it, or an enqueued run is still to come. A panic in a host call becomes
// the error of the next call that waits.
//
// # Errors
//
// An error has the method of the contract, the driver's code, and the known details: from the simulator the kernel,
// thread and line (reprise.h), from a GPU's driver its text for the code and, for a module, its compiler's log. After
// a code that means that the context is lost, every later call returns the same error.
//
// # Ownership
//
// A device retains the primary context of the GPU and frees its own resources individually. It uses no finalizers:
// they would call the driver from the collector's goroutine, in no defined order.
package cuda
