package des

import (
	"fmt"
	"math"
	"strings"

	"github.com/reprise-gpu/reprise/internal/unit"
)

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
	MemoryShare float64 // of the peak, what a kernel can reach; 0 is all
	SMGBps      float64 // what one multiprocessor can draw from L2 and beyond, 1e9 bytes/s
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
	L2Cycles   float64 // of one that hits L2
	DRAMCycles float64 // of one that misses both

	// Latencies on the device.
	KernelRamp       Time // a kernel's first slot granted to its first instruction, and drain
	CopyInLatency    Time // fixed cost of a host to device copy
	CopyOutLatency   Time // fixed cost of a device to host copy
	CopyOnLatency    Time // fixed cost of a device to device copy or a memset
	HostCallLatency  Time // fixed cost of a host callback
	ConditionLatency Time // a conditional node to read its condition and decide; a loop does so once more than it iterates
	FaultLatency     Time // what a kernel waits for the first managed memory that it faults in, beside the transfer

	// Gaps on the device between the end of one task and the start of the next.
	SubmitLatency Time // a call's return on the host to the work being ready on the device
	StreamGap     Time // successor in the same stream
	EventGap      Time // wait on an event of another stream
	GraphEdgeGap  Time // along an edge of a graph
	GraphRootGap  Time // predecessor in the stream to the roots of a graph
	GraphBodyGap  Time // decision of a conditional node to the roots of the body it runs

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

// pipes says which pipe of a multiprocessor each unit is part of. Units of one
// pipe wait for each other. Volta and its successors multiply integers where
// they multiply floats, and have one unit for all that is rare.
var pipes = [unit.Count]Limit{
	unit.FP32: FMA, unit.FP16: FMA, unit.Multiply: FMA,
	unit.Integer: ALU, unit.Vote: ALU,
	unit.FP64:    FP64,
	unit.Special: XU, unit.Convert: XU, unit.Convert64: XU, unit.Bits: XU,
	unit.Memory: LSU, unit.Shuffle: LSU, unit.Texture: LSU,
	unit.Branch: BRU,
	unit.Tensor: Tensor,
}

// supplies is what the device has of each resource per ps, and what one
// multiprocessor can use of it. Pipes are counted in cycles of a multiprocessor.
func (p *Profile) supplies() (device, perSM supplies) {
	limit := func(v float64) float64 {
		if v == 0 {
			return math.Inf(1)
		}
		return v
	}
	cycles := p.ClockMHz / 1e6 // per ps
	for r := range device {
		device[r], perSM[r] = math.Inf(1), math.Inf(1)
	}
	for r := Issue; r <= Tensor; r++ {
		device[r], perSM[r] = cycles*float64(p.SMs), cycles
	}
	const gbps = 1e9 / 1e12 // bytes per ps
	share := p.MemoryShare
	if share == 0 {
		share = 1
	}
	device[Dispatch] = limit(p.BlockRate) * cycles
	device[L2], perSM[L2] = limit(p.L2GBps*gbps), limit(p.SMGBps*gbps)
	device[Atomics] = limit(p.L2Slices) * cycles
	device[DRAM] = p.MemoryGBps * share * gbps
	device[LinkIn], device[LinkOut] = p.LinkGBps*gbps, p.LinkGBps*gbps
	device[Link] = limit(p.DuplexGBps * gbps)
	device[Faults] = limit(p.FaultGBps * gbps)
	return device, perSM
}

// work is what a kernel needs of each resource.
func (p *Profile) work(d *Demand) (w supplies) {
	w[Dispatch] = d.Blocks
	w[Issue] = d.Work.Total() / float64(p.Limits.Schedulers)
	for u, n := range d.Work {
		if lanes := p.Lanes[u]; lanes > 0 {
			w[pipes[u]] += n * warpSize / lanes
		}
	}
	w[L2] = max(d.L2Bytes, d.Bytes)
	w[DRAM] = d.Bytes
	w[LinkIn], w[LinkOut], w[Link] = d.LinkIn, d.LinkOut, d.LinkIn+d.LinkOut
	if d.Updates > 0 && p.L2Slices > 0 {
		spread := p.L2Slices
		if d.Lines > 0 {
			spread = min(spread, d.Lines)
		}
		w[Atomics] = d.Updates * p.L2Slices / spread // slices that have nothing to update idle
	}
	return w
}

// PageFaults reports whether kernels fault in what they touch of managed memory. Before
// compute capability 6.0 what they use of it moves as a whole before they start.
func (p *Profile) PageFaults() bool { return p.ComputeMajor >= 6 }

// TripCycles is how long a warp waits for global memory when the given shares
// of what it reads are in L1, and of the rest in L2, in cycles.
func (p *Profile) TripCycles(inL1, inL2 float64) float64 {
	return inL1*p.L1Cycles + (1-inL1)*(inL2*p.L2Cycles+(1-inL2)*p.DRAMCycles)
}

// Profiles lists the known profiles, the default first.
func Profiles() []*Profile {
	return []*Profile{&h200, &a100, &v100, &p100, &gtx1660s, &gtx960}
}

// Lookup returns the profile with the given ID, or the one in the file of that
// path when it ends in .json; its error lists the known ones.
func Lookup(id string) (*Profile, error) {
	if strings.HasSuffix(id, fileSuffix) {
		f, err := ReadFile(id)
		if err != nil {
			return nil, err
		}
		return &f.Profile, nil
	}
	var known []string
	for _, p := range Profiles() {
		if p.ID == id {
			return p, nil
		}
		known = append(known, p.ID)
	}
	return nil, fmt.Errorf("no device profile is called %q; known profiles: %s, or the path of a file that ends in .json", id, strings.Join(known, ", "))
}
