// Package cuda is the device.Device of a GPU: gorgonia.org/cu for contexts, memory,
// modules, functions, streams, events and empty graphs, and one cgo file, driver.go
// with driver.c, for what that package lacks or gets wrong.
//
//	                 device.Device
//	any goroutine ──► d.mu ──┬─► executor: a goroutine ──► gorgonia.org/cu ──┐
//	                         │   that keeps an OS thread                     ├─► libcuda.a ──► the driver, or the
//	                         └─► driver.c, on the caller's thread ───────────┘   (lazycuda)    simulator with
//	                                                                                           REPRISE_LIBCUDA=sim
//
// # Threads
//
// A driver's context belongs to OS threads, and Go moves goroutines between those.
// Whoever uses a Device need not know: its calls come from any goroutine, one at a
// time, but while one waits for a stream others go on. What only sets things up is handed to the executor, on whose thread the
// context stays current, as the functions of gorgonia.org/cu want it. What a replay
// does (Submit, SubmitCommands, LaunchGraph, Record, Wait, Synchronize, and building
// graphs) is one call into driver.c, which pushes the context, does the work and pops
// it. Handing over costs two switches between OS threads, see BenchmarkHandOver, which is more than
// a graph launch does; pushing and popping cost two calls that the driver answers from memory.
// None of these calls allocates, but for the first of a host call.
//
// # Memory
//
// Everything the driver keeps a pointer to is C memory: pinned bytes come from
// cuMemHostAlloc, and commands with their parameter blocks from calloc. Go memory is
// passed only to calls that have copied when they return.
//
// # Crossings
//
// A work becomes a C record (struct step), together with what its stream waits for before it
// and records after it. Submit hands over one, a command list is an array of them that
// SubmitCommands has C walk, as often round as it is asked to, and graph nodes are added and updated
// from the same records. UpdateCommand rewrites a record in place: a driver has copied
// what it needs when an enqueuing call returns. Go looks at the commands of a list once, and again
// when a stream, an event or an instance was destroyed. `make bench-host` measures what that costs.
// Graphs are uploaded when a list that launches them is compiled, not by the first launch.
//
// # Host calls
//
// The driver is given a handle (runtime/cgo) and calls back on a thread of its own. The
// handle lives while a list, a graph or an instance may enqueue it or a run of it is
// still to come. A panic in a host call is the error of the next call that waits.
//
// # Errors
//
// An error has the contract's method, the driver's code, and what is known of the
// cause: from the simulator the kernel, thread and line (reprise.h), from a GPU's
// driver its text for the code and, for a module, its compiler's log. A code that says
// that the context is lost is answered to every later call.
//
// # Ownership
//
// A Device has a share of the GPU's primary context and frees one by one what was made
// through it. Nothing is freed by finalizers: the driver would be called from the
// collector's goroutine, in no order.
package cuda
