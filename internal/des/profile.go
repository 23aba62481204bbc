package des

import (
	"fmt"
	"strings"
)

// issuePerSM is how many warp instructions a multiprocessor issues per cycle:
// four schedulers, one instruction each (CUDA C++ Programming Guide, "Compute
// Capability 9.x"; the same since Volta).
const issuePerSM = 4

// Profile describes a device in numbers: what it has, how fast that is, and
// what the host pays for each call. Each profile says of every figure where it
// is from.
type Profile struct {
	Name         string // as the driver reports it: "NVIDIA H200"
	ID           string // what Lookup takes: "h200"
	ComputeMajor int
	ComputeMinor int

	SMs         int     // multiprocessors
	ClockMHz    float64 // of the multiprocessors, MHz
	MemoryBytes int64   // device memory, bytes
	MemoryGBps  float64 // peak DRAM bandwidth, 1e9 bytes/s
	SMGBps      float64 // what one multiprocessor can draw of it, 1e9 bytes/s
	L2Bytes     int64   // bytes
	LinkGBps    float64 // host link, each direction, 1e9 bytes/s
	MaxKernels  int     // resident at once
	Limits      Limits

	// Latencies on the device.
	KernelRamp      Time // a kernel's first slot granted to its first instruction, and drain
	CopyInLatency   Time // fixed cost of a host to device copy
	CopyOutLatency  Time // fixed cost of a device to host copy
	CopyOnLatency   Time // fixed cost of a device to device copy or a memset
	HostCallLatency Time // fixed cost of a host callback

	// Gaps on the device between the end of one task and the start of the next.
	SubmitLatency Time // a call's return on the host to the work being ready on the device
	StreamGap     Time // successor in the same stream
	EventGap      Time // wait on an event of another stream
	GraphEdgeGap  Time // along an edge of a graph
	GraphRootGap  Time // predecessor in the stream to the roots of a graph

	Host HostCosts
}

// HostCosts is the host's time in each driver call.
type HostCosts struct {
	Launch         Time // cuLaunchKernel
	Memcpy         Time // cuMemcpyAsync
	Memset         Time // cuMemsetD*Async
	HostCall       Time // cuLaunchHostFunc
	EventRecord    Time // cuEventRecord
	EventWait      Time // cuStreamWaitEvent
	GraphLaunch    Time // cuGraphLaunch, base
	GraphNode      Time // cuGraphLaunch, more per node
	GraphBranch    Time // cuGraphLaunch, more per node that does not simply continue a chain
	Synchronize    Time // the return from a wait after the device is done
	Query          Time // cuEventElapsedTime and the like
	Alloc          Time // cuMemAlloc, cuMemFree
	Create         Time // a stream, event or graph; a node
	Instantiate    Time // cuGraphInstantiate, base
	InstantiateOne Time // cuGraphInstantiate, more per node
	UpdateNode     Time // cuGraphExec*NodeSetParams
	LoadModule     Time // cuModuleLoadData, base
}

// linkTime is how long bytes take over the host link.
func (p *Profile) linkTime(bytes float64) Time {
	return Time(bytes / p.LinkGBps * 1e3)
}

// Profiles lists the known profiles, the default first.
func Profiles() []*Profile { return []*Profile{&h200, &a100, &v100} }

// Lookup returns the profile with the given ID; its error lists the known ones.
func Lookup(id string) (*Profile, error) {
	var known []string
	for _, p := range Profiles() {
		if p.ID == id {
			return p, nil
		}
		known = append(known, p.ID)
	}
	return nil, fmt.Errorf("no device profile is called %q; known profiles: %s", id, strings.Join(known, ", "))
}
