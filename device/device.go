// Package device defines the contract between a replay and the device that runs it: the smallest part of the CUDA
// driver API that tracing and replaying need, in the terms of the driver. It imports no package of this module
// but the one for extents.
//
// Calls that enqueue work return at once. Errors of the work itself are returned by the next synchronizing call and,
// as on a GPU, poison the device: every later call returns the same error until Close. A Device must be used by one
// goroutine at a time.
package device

import (
	"context"
	"time"
)

// Handles are opaque. Zero is never a valid handle. In particular the zero Stream is refused, because there is no
// default stream.
type (
	Ptr         uint64 // an address of device memory or of pinned host memory
	Module      uint64
	Function    uint64
	Stream      uint64
	Event       uint64
	Graph       uint64
	Node        uint64 // unique within its graph
	GraphExec   uint64
	CommandList uint64
)

// Device is one GPU, real or simulated.
type Device interface {
	Info() Info

	// Now returns the time of the host's clock: real time for a real GPU, virtual time for a simulated one.
	Now() time.Duration

	// Alloc returns device memory aligned to at least 256 bytes. An allocation of zero bytes is allowed; its address
	// must not be accessed.
	Alloc(bytes int64) (Ptr, error)
	// AllocHost returns the address and the bytes of pinned host memory. The bytes stay valid until Free. Copies can
	// access the memory; kernels cannot.
	AllocHost(bytes int64) (Ptr, []byte, error)
	// Free waits for the device, then releases memory of either kind.
	Free(Ptr) error
	// Write waits for all work, then copies host bytes to device memory.
	Write(dst Ptr, src []byte) error
	// Read waits for all work, then copies device memory to host bytes.
	Read(dst []byte, src Ptr) error

	// LoadModule compiles PTX text. Errors refer to the module by name.
	LoadModule(name, ptx string) (Module, error)
	UnloadModule(Module) error
	Function(m Module, entry string) (Function, error)
	// Global returns the address and the size in bytes of a .global or .const variable of the module. UnloadModule
	// frees the memory; Free refuses it.
	Global(m Module, name string) (Ptr, int64, error)

	// CreateStream creates a FIFO of work that is not ordered with any other stream. A lower value of priority runs
	// first; the value is clamped to the range in Info.
	CreateStream(priority int) (Stream, error)
	DestroyStream(Stream) error
	// Submit enqueues one piece of work.
	Submit(Stream, Work) error
	// Synchronize waits until the stream is empty. SynchronizeAll waits for all streams.
	Synchronize(Stream) error
	// SynchronizeContext is Synchronize, but returns the error of ctx if ctx is done before the stream is empty. It
	// cancels no work: enqueued work continues and keeps its resources, and later calls that wait also wait for it.
	SynchronizeContext(ctx context.Context, s Stream) error
	SynchronizeAll() error

	CreateEvent() (Event, error)
	DestroyEvent(Event) error
	// Record sets the event to the present end of the stream. A later Record replaces an earlier one.
	Record(Event, Stream) error
	// Wait delays later work of the stream until the latest record of the event has completed. It has no effect if
	// the event was never recorded.
	Wait(Stream, Event) error
	// Elapsed returns the device time between two completed records.
	Elapsed(start, end Event) (time.Duration, error)

	CreateGraph() (Graph, error)
	DestroyGraph(Graph) error
	// AddNode adds work that runs after deps.
	AddNode(g Graph, deps []Node, w Work) (Node, error)
	// Instantiate makes an executable instance of the graph. The topology of an instance is fixed.
	Instantiate(Graph) (GraphExec, error)
	// UpdateNode replaces the parameters of one node of an instantiated graph. The kind of work must stay the same.
	// Launches that are already enqueued keep the old parameters.
	UpdateNode(x GraphExec, n Node, w Work) error
	// UpdateNodes calls UpdateNode for many distinct nodes and stops at the first error.
	UpdateNodes(x GraphExec, changes []NodeWork) error
	// LaunchGraph enqueues one run of the whole graph. Runs of one GraphExec never overlap, even in different
	// streams: each waits for the previous one.
	LaunchGraph(x GraphExec, s Stream) error
	DestroyGraphExec(GraphExec) error

	// CompileCommands compiles a schedule for several streams to a list that a single call can submit, so that a
	// replay needs one call through cgo.
	CompileCommands([]Command) (CommandList, error)
	// UpdateCommand replaces the work of command i. The kind of work must stay the same.
	UpdateCommand(l CommandList, i int, w Work) error
	// SubmitCommands enqueues n commands of the list, beginning with command from. The list is repeated cyclically,
	// so that one call can submit many replays.
	SubmitCommands(l CommandList, from, n int) error
	DestroyCommandList(CommandList) error

	// Close waits for all work, then frees everything that is still allocated. Every later call fails.
	Close() error
}

// Info describes a device.
type Info struct {
	Name             string // "NVIDIA H200", "null"
	ID               string // what --device takes: "sim:h200", "null"
	Simulated        bool
	Instance         uint64 // from NextInstance, unique for each opened device; wrappers keep it
	ComputeMajor     int
	ComputeMinor     int
	Multiprocessors  int
	ClockMHz         int
	MemoryBytes      int64
	MemoryGBps       float64 // peak bandwidth of device memory
	L2Bytes          int64
	MaxThreads       int // per block
	MaxShared        int // bytes of shared memory per block
	LeastPriority    int // the numerically greatest value
	GreatestPriority int // the numerically least value
}

// Live holds the number of live resources of a device, by kind. All are 0 after everything was freed.
type Live struct {
	Bytes                                                       int64
	Allocations, Modules, Streams, Events, Graphs, Execs, Lists int
	Textures                                                    int // textures and surfaces; their arrays count as allocations
}
