package device

// Work is what a stream runs and a graph node holds: exactly one of *Launch,
// *Copy, *Memset, *HostCall, *Prefetch or Nothing. The device copies what it needs out of
// a Work before the call returns.
type Work interface{ work() }

// Dim3 is a grid's extent in blocks or a block's in threads.
type Dim3 struct{ X, Y, Z uint32 }

// Count is the product of the extents.
func (d Dim3) Count() uint64 { return uint64(d.X) * uint64(d.Y) * uint64(d.Z) }

// Launch runs a kernel. Params is the parameter block: every parameter at its
// natural alignment, in order, as the kernel's signature lays them out.
type Launch struct {
	Function Function
	Grid     Dim3
	Block    Dim3
	Shared   uint32 // dynamic shared memory, bytes
	Params   []byte
	// Cooperative promises that all blocks are on the device together, so that they
	// may wait for each other. A grid that does not fit is refused.
	Cooperative bool
	// Priority goes before the stream's unless it is 0, in the same range: who has the lower
	// value gets multiprocessors first. A node of a graph keeps that which it was added with.
	Priority int
	// Off launches nothing. An update can switch a launch off and on again; a node that
	// was added switched off stays so.
	Off   bool
	Label string // what errors and traces call the launch
}

// NodeWork is what a node of an instantiated graph is to do.
type NodeWork struct {
	Node Node
	Work Work
}

// Copy moves Bytes between device or pinned host memory.
type Copy struct {
	Dst, Src Ptr
	Bytes    int64
	Label    string
}

// Memset writes Count elements of Width bytes (1, 2 or 4) with Value.
type Memset struct {
	Dst   Ptr
	Value uint32
	Width int
	Count int64
	Label string
}

// Nothing is work that only orders.
type Nothing struct{}

func (*Launch) work()   {}
func (*Copy) work()     {}
func (*Memset) work()   {}
func (*HostCall) work() {}
func (Nothing) work()   {}

// CommandKind is one step of a command list.
type CommandKind uint8

const (
	Run      CommandKind = iota // run Work on Stream
	Record                      // record Event on Stream
	Await                       // make Stream wait for Event
	RunGraph                    // run Exec on Stream, as LaunchGraph does
)

// Command is one step of a command list.
type Command struct {
	Kind   CommandKind
	Stream Stream
	Event  Event     // of Record and Await
	Work   Work      // of Run
	Exec   GraphExec // of RunGraph
}
