// Package device is the contract between a replay and whatever runs it: the
// narrowest slice of the CUDA driver API that tracing and replaying need, in
// the driver's own words. It imports nothing of this module.
//
// Calls that enqueue work return at once; errors of the work itself surface at
// the next synchronizing call and, as on a GPU, poison the device: every later
// call answers the same error until Close. A Device is used by one goroutine at
// a time.
package device

import (
	"context"
	"time"
)

// MaxHostAlloc is the most pinned memory one allocation may hold, in bytes. More
// is out of memory on every device of this module.
const MaxHostAlloc = 64 << 30

// Handles are opaque. Zero is never a live handle, except that the zero Stream
// is refused too: there is no default stream here.
type (
	Ptr         uint64 // an address, of device memory or of pinned host memory alike
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

	// Now is the host's clock as the caller of this device lives it: real time
	// on a real GPU, virtual time on a simulated one.
	Now() time.Duration

	// Alloc returns device memory aligned to at least 256 bytes. Zero bytes is
	// legal and yields an address that no access may touch.
	Alloc(bytes int64) (Ptr, error)
	// AllocHost returns pinned host memory and the bytes themselves, which stay
	// valid until Free. Kernels cannot reach it; copies can.
	AllocHost(bytes int64) (Ptr, []byte, error)
	// Free releases memory of either kind. It waits for the device first.
	Free(Ptr) error
	// Write waits for all work, then copies host bytes to device memory.
	Write(dst Ptr, src []byte) error
	// Read waits for all work, then copies device memory to host bytes.
	Read(dst []byte, src Ptr) error

	// LoadModule compiles PTX text; name is what errors call it.
	LoadModule(name, ptx string) (Module, error)
	UnloadModule(Module) error
	Function(m Module, entry string) (Function, error)
	// Global is the address and size in bytes of a .global or .const variable of
	// the module. It is freed with its module and in no other way.
	Global(m Module, name string) (Ptr, int64, error)

	// CreateStream makes a FIFO that is ordered with no other stream. Lower
	// priority values run first, clamped to the range in Info.
	CreateStream(priority int) (Stream, error)
	DestroyStream(Stream) error
	// Submit enqueues one piece of work.
	Submit(Stream, Work) error
	// Synchronize waits until the stream is empty; SynchronizeAll, all streams.
	Synchronize(Stream) error
	// SynchronizeContext is Synchronize that returns the error of ctx when ctx is done before the stream is empty. It cancels
	// no work: what is enqueued goes on, keeps what it uses, and any later call that waits waits for it.
	SynchronizeContext(ctx context.Context, s Stream) error
	SynchronizeAll() error

	CreateEvent() (Event, error)
	DestroyEvent(Event) error
	// Record marks the stream's present end; recording again moves the mark.
	Record(Event, Stream) error
	// Wait holds back later work of the stream until the event's last record
	// has completed. An event never recorded holds back nothing.
	Wait(Stream, Event) error
	// Elapsed is the device time between two completed records.
	Elapsed(start, end Event) (time.Duration, error)

	CreateGraph() (Graph, error)
	DestroyGraph(Graph) error
	// AddNode adds work that runs after deps.
	AddNode(g Graph, deps []Node, w Work) (Node, error)
	// Instantiate fixes the graph's topology for launching.
	Instantiate(Graph) (GraphExec, error)
	// UpdateNode replaces the parameters of one node of an instantiated graph;
	// the kind of work must stay the same. Launches already enqueued keep the
	// old ones.
	UpdateNode(x GraphExec, n Node, w Work) error
	// UpdateNodes does the same to many nodes, none of which comes twice, and stops at the first
	// that it cannot update.
	UpdateNodes(x GraphExec, changes []NodeWork) error
	// LaunchGraph enqueues one run of the whole graph. Runs of one GraphExec never
	// overlap; the next waits for the one before, in whatever stream that is.
	LaunchGraph(x GraphExec, s Stream) error
	DestroyGraphExec(GraphExec) error

	// CompileCommands lowers a multi-stream schedule to a list that one call
	// submits, so that a replay crosses into the driver's language once.
	CompileCommands([]Command) (CommandList, error)
	// UpdateCommand replaces the work of command i; its kind must stay.
	UpdateCommand(l CommandList, i int, w Work) error
	// SubmitCommands enqueues n commands of the list, beginning with command from and
	// going round: the first comes after the last, so that one call submits many replays.
	SubmitCommands(l CommandList, from, n int) error
	DestroyCommandList(CommandList) error

	// Close waits, then frees whatever is left. Calls after it fail.
	Close() error
}

// Info describes a device.
type Info struct {
	Name             string // "NVIDIA H200", "null"
	ID               string // what --device takes: "sim:h200", "null"
	Simulated        bool
	Instance         uint64 // of NextInstance, one for each time a device is opened; see Same
	ComputeMajor     int
	ComputeMinor     int
	Multiprocessors  int
	ClockMHz         int
	MemoryBytes      int64
	MemoryGBps       float64 // peak bandwidth of device memory
	L2Bytes          int64
	MaxThreads       int // per block
	MaxShared        int // bytes of shared memory per block
	LeastPriority    int // numerically greatest
	GreatestPriority int // numerically least
}

// Live counts what is allocated on a device; all zero after everything was
// freed.
type Live struct {
	Bytes                                                       int64
	Allocations, Modules, Streams, Events, Graphs, Execs, Lists int
	Textures                                                    int // and surfaces; arrays are allocations
}

// Namer is a device that takes names for allocations, for what it reports.
type Namer interface{ NameMemory(p Ptr, name string) }

// Accounter is a device that can tell what is live on it.
type Accounter interface{ Live() Live }
