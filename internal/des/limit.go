package des

import "github.com/reprise-gpu/reprise/device/model"

// Limit is a cause that keeps a task from ending sooner. Every instant from the time a task may start to its end is
// attributed to one limit.
type Limit uint8

// Resources. Concurrent users of a resource share it.
const (
	Dispatch Limit = iota // the block scheduler
	Issue                 // the warp schedulers of the multiprocessors
	FMA                   // pipe of a multiprocessor for float, half and integer multiplication
	ALU                   // pipe for other integer operations
	FP64                  // double precision
	XU                    // approximations, conversions, bit counts
	LSU                   // loads, stores and shuffles: wavefronts of L1 and shared memory
	BRU                   // branches
	Tensor                // matrix multiplication
	L2                    // bytes between the multiprocessors and L2
	Atomics               // updates in L2
	DRAM                  // bytes of device memory
	LinkIn                // bytes from the host
	LinkOut               // bytes to the host
	Link                  // both directions together
	Faults                // bytes of managed memory that kernels fault in
	resources
)

// Other limits.
const (
	Latency    Limit = resources + iota // chains of instructions and memory accesses of the blocks that fit
	Ramp                                // start of a kernel or a copy
	Queued                              // for slots on multiprocessors, a copy engine or the host's thread
	HostCall                            // a callback on the host
	Declared                            // a declared duration
	Deciding                            // a conditional node reads its condition
	SharedLink                          // a channel between devices
	// Between tasks.
	StreamOrder // predecessor in the same stream
	EventWait   // event of another stream
	GraphEdge   // edge of a graph
	GraphRoot   // from the predecessor in the stream to the roots of a graph
	GraphBody   // from the decision of a conditional node to the roots of its body
	Submit      // from a call's return on the host until the work is ready on the device
	HostCalls   // host time in driver calls
	Synchronize // return of the host from a wait
	limits
)

var limitNames = [limits]string{
	"dispatch", "issue", "fma pipe", "alu pipe", "fp64 pipe", "xu pipe", "lsu pipe", "branch pipe", "tensor pipe",
	"L2 bandwidth", "L2 atomics", "DRAM bandwidth", "link in", "link out", "link", "page faults",
	"latency", "ramp", "queued", "host call", "declared", "condition", "shared link",
	"stream order", "event wait", "graph edge", "graph root", "graph body", "submit", "driver calls", "synchronize",
}

// isPipe reports whether a limit is of instructions in a multiprocessor.
func (l Limit) isPipe() bool { return l >= Issue && l <= Tensor }

// Cause is a group of limits, as reports show them.
type Cause uint8

const (
	Compute   Cause = iota // instructions
	Bandwidth              // bytes on the device
	Waiting                // latency of instructions and memory, with too few threads to hide it
	Transfer               // bytes over the host link
	Launching              // host calls, and starting work
	Syncing                // order of tasks
	Queueing               // waiting for a resource in use
	Callback               // on the host
	Given                  // declared costs
	Causes                 // number of causes
)

func (l Limit) String() string { return limitNames[l] }

var causes = [limits]Cause{
	Issue: Compute, FMA: Compute, ALU: Compute, FP64: Compute, XU: Compute, LSU: Compute, BRU: Compute, Tensor: Compute,
	L2: Bandwidth, Atomics: Bandwidth, DRAM: Bandwidth,
	Latency: Waiting,
	LinkIn:  Transfer, LinkOut: Transfer, Link: Transfer, Faults: Transfer, SharedLink: Transfer,
	Dispatch: Launching, Ramp: Launching, GraphRoot: Launching, GraphBody: Launching, Deciding: Launching, Submit: Launching, HostCalls: Launching,
	StreamOrder: Syncing, EventWait: Syncing, GraphEdge: Syncing, Synchronize: Syncing,
	Queued:   Queueing,
	HostCall: Callback,
	Declared: Given,
}

// Cause returns the group of a limit.
func (l Limit) Cause() Cause { return causes[l] }

var causeNames = [Causes]string{
	"compute", "bandwidth", "latency", "transfer", "launch", "sync", "queue", "host", "declared",
}

func (c Cause) String() string { return causeNames[c] }

// Spent holds time by limit.
type Spent [limits]model.Time

// Most returns the limit with the greatest share of the time.
func (s *Spent) Most() (most Limit) {
	for l, t := range s {
		if t > s[most] {
			most = Limit(l)
		}
	}
	return most
}

// Total returns the sum over all limits.
func (s *Spent) Total() (sum model.Time) {
	for _, t := range s {
		sum += t
	}
	return sum
}
