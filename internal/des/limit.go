package des

// Limit is what keeps a task from being done sooner. Every instant from the
// moment a task may start to its end is put down to one.
type Limit uint8

// Resources, of which those who use one get a share.
const (
	Dispatch Limit = iota // the block scheduler
	Issue                 // the warp schedulers of the multiprocessors
	FMA                   // their pipe for float, half and integer multiplication
	ALU                   // the one for the other integer work
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
	Link                  // both together
	Faults                // bytes of managed memory that kernels fault in
	resources
)

// Other limits.
const (
	Latency  Limit = resources + iota // chains of instructions and memory accesses of the blocks that fit
	Ramp                              // getting a kernel or copy under way
	Queued                            // for slots on multiprocessors, a copy engine or the host's thread
	HostCall                          // a callback on the host
	Declared                          // a duration that was given
	Deciding                          // a conditional node reads its condition
	// Between tasks.
	StreamOrder // after the one before in the stream
	EventWait   // on an event of another stream
	GraphEdge   // along an edge of a graph
	GraphRoot   // the roots of a graph after what was in its stream before
	GraphBody   // the roots of a conditional node's body after it has decided
	Submit      // a call's return on the host to the work being ready on the device
	HostCalls   // the host's time in calls of the driver
	Synchronize // the host's return from a wait
	limits
)

var limitNames = [limits]string{
	"dispatch", "issue", "fma pipe", "alu pipe", "fp64 pipe", "xu pipe", "lsu pipe", "branch pipe", "tensor pipe",
	"L2 bandwidth", "L2 atomics", "DRAM bandwidth", "link in", "link out", "link", "page faults",
	"latency", "ramp", "queued", "host call", "declared", "condition",
	"stream order", "event wait", "graph edge", "graph root", "graph body", "submit", "driver calls", "synchronize",
}

// Cause is a group of limits, as people ask for them.
type Cause uint8

const (
	Compute   Cause = iota // instructions
	Bandwidth              // bytes on the device
	Waiting                // for instructions and memory with too few threads to hide it
	Transfer               // bytes over the host link
	Launching              // the host's calls, and getting work under way
	Syncing                // one task after another
	Queueing               // for a resource that others hold
	Callback               // on the host
	Given                  // declared costs
	Causes                 // how many causes there are
)

func (l Limit) String() string { return limitNames[l] }

var causes = [limits]Cause{
	Issue: Compute, FMA: Compute, ALU: Compute, FP64: Compute, XU: Compute, LSU: Compute, BRU: Compute, Tensor: Compute,
	L2: Bandwidth, Atomics: Bandwidth, DRAM: Bandwidth,
	Latency: Waiting,
	LinkIn:  Transfer, LinkOut: Transfer, Link: Transfer, Faults: Transfer,
	Dispatch: Launching, Ramp: Launching, GraphRoot: Launching, GraphBody: Launching, Deciding: Launching, Submit: Launching, HostCalls: Launching,
	StreamOrder: Syncing, EventWait: Syncing, GraphEdge: Syncing, Synchronize: Syncing,
	Queued:   Queueing,
	HostCall: Callback,
	Declared: Given,
}

// Cause is the group a limit belongs to.
func (l Limit) Cause() Cause { return causes[l] }

var causeNames = [Causes]string{
	"compute", "bandwidth", "latency", "transfer", "launch", "sync", "queue", "host", "declared",
}

func (c Cause) String() string { return causeNames[c] }

// Spent is time by what limited it.
type Spent [limits]Time

// Most is the limit to which most of it is put down.
func (s *Spent) Most() (most Limit) {
	for l, t := range s {
		if t > s[most] {
			most = Limit(l)
		}
	}
	return most
}

// Total is all of it.
func (s *Spent) Total() (sum Time) {
	for _, t := range s {
		sum += t
	}
	return sum
}
