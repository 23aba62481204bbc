package model

import (
	"errors"

	"github.com/reprise-gpu/reprise/internal/unit"
)

// Profile describes a device in numbers: its resources, their rates, and the host's cost of each driver call.
// Comments in each profile give the source of every figure.
type Profile struct {
	Name         string // name that the driver reports: "NVIDIA H200"
	ID           string // name for Lookup: "h200"
	ComputeMajor int
	ComputeMinor int

	SMs         int     // multiprocessors
	ClockMHz    float64 // of the multiprocessors, MHz
	MemoryBytes int64   // device memory, bytes
	MemoryGBps  float64 // peak DRAM bandwidth, 1e9 bytes/s
	MemoryShare float64 // fraction of the peak that a kernel can reach; 0 means 1
	SMGBps      float64 // what one multiprocessor can draw from L2 and DRAM, 1e9 bytes/s
	L2Bytes     int64   // bytes
	L2GBps      float64 // what L2 delivers to all multiprocessors, 1e9 bytes/s; 0 is no limit
	L2Slices    float64 // parts of L2, each of which does one atomic update per cycle; 0 is no limit
	L1Bytes     int64   // L1 and shared memory of one multiprocessor, bytes
	LinkGBps    float64 // host link, each direction, 1e9 bytes/s
	DuplexGBps  float64 // host link, both directions together; 0 is no limit
	FaultGBps   float64 // managed memory that kernels fault in, 1e9 bytes/s; 0 is no limit but the link
	MaxKernels  int     // resident at once
	BlockRate   float64 // blocks the device starts per cycle; 0 is no limit
	Limits      Limits

	// Lanes is how many lanes of a warp instruction each unit of a multiprocessor
	// completes per cycle; 0 is no limit.
	Lanes unit.Work

	L1Cycles   float64 // latency of a load that hits L1, in cycles
	L2Cycles   float64 // latency of a load that hits L2
	DRAMCycles float64 // latency of a load that misses both

	// Latencies on the device.
	KernelRamp       Time // from a kernel's first slot to its first instruction, and its drain
	CopyInLatency    Time // fixed cost of a host to device copy
	CopyOutLatency   Time // fixed cost of a device to host copy
	CopyOnLatency    Time // fixed cost of a device to device copy or a memset
	HostCallLatency  Time // fixed cost of a host callback
	ConditionLatency Time // evaluation of a condition by a conditional node; a loop of n iterations takes n+1
	FlushLatency     Time // from the last instruction of a kernel that accesses memory until the caches are consistent for a successor
	BlockLatency     Time // from the end of a block to the first instruction of the next block in its slot
	WarpLatency      Time // the same, in addition for each warp of the block
	FaultLatency     Time // delay of a kernel at its first access to managed memory on the host, without the transfer

	// Gaps on the device between the end of one task and the start of the next.
	SubmitLatency Time // from a call's return on the host until the work is ready on the device
	StreamGap     Time // successor in the same stream
	EventGap      Time // wait on an event of another stream
	GraphEdgeGap  Time // along an edge of a graph
	GraphRootGap  Time // predecessor in the stream to the roots of a graph
	GraphBodyGap  Time // from the decision of a conditional node to the roots of its body

	// Contexts of several processes, which the device runs one after another.
	ContextSwitch Time // from the end of one's work to the start of another's
	ContextSlice  Time // after which the device leaves a context that has more work; 0 means never

	Host HostCosts
}

// HostCosts holds the host's time in each driver call.
type HostCosts struct {
	Launch         Time // cuLaunchKernel
	Memcpy         Time // cuMemcpyAsync
	Memset         Time // cuMemsetD*Async
	HostCall       Time // cuLaunchHostFunc
	EventRecord    Time // cuEventRecord
	EventWait      Time // cuStreamWaitEvent
	GraphLaunch    Time // cuGraphLaunch, base
	GraphNode      Time // cuGraphLaunch, per node
	GraphBranch    Time // cuGraphLaunch, in addition per node that does not simply continue a chain
	Synchronize    Time // from the end of the work to the return from a wait
	Query          Time // cuEventElapsedTime and the like
	Alloc          Time // cuMemAlloc, cuMemFree
	Create         Time // a stream, event or graph; a node
	Instantiate    Time // cuGraphInstantiate, base
	InstantiateOne Time // cuGraphInstantiate, per node
	UpdateNode     Time // cuGraphExec*NodeSetParams
	LoadModule     Time // cuModuleLoadData, base
}

// ErrProfile is in the error chain if a figure of a profile made in code is out of its bounds. With such a figure a
// task might never end, or take no time.
var ErrProfile = errors.New("a profile of one's own")
