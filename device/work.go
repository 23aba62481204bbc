package device

import "github.com/reprise-gpu/reprise/internal/dim"

// Work is the operation of a stream command or of a graph node: one of *Launch, *Copy, *Memset, *HostCall, *Prefetch
// or Nothing. The device copies all it needs from a Work before the call returns.
type Work interface{ work() }

// Dim3 is the extent of a grid in blocks, or of a block in threads: struct{ X, Y, Z uint32 }. Its method Count returns
// their product. It is the same type as ir.Dim3.
type Dim3 = dim.Dim3

// Launch runs a kernel. Params is the parameter block: all parameters in the order of the kernel's signature, each at
// its natural alignment.
type Launch struct {
	Function Function
	Grid     Dim3
	Block    Dim3
	Shared   uint32 // dynamic shared memory, bytes
	Params   []byte
	// Cooperative requires that all blocks be resident at the same time, so that they may wait for each other. A grid
	// that does not fit on the device is refused.
	Cooperative bool
	// Priority overrides the priority of the stream unless it is 0. It has the same range, and a lower value gets
	// multiprocessors first. A graph node keeps the priority that it was added with.
	Priority int
	// Off disables the launch. An update can switch a launch off and on again. A node that was added with Off set
	// stays off.
	Off   bool
	Label string // name of the launch in errors and traces
	// Declared are the bytes of buffers that the program declares. A simulated device that detects races reports
	// accesses to other bytes of these buffers. Drivers ignore it.
	Declared []Declared
}

// Declared declares which of the Bytes bytes from Ptr on a launch touches. The block with number b, in the order of x,
// y and z, is in layer i = (First + b) / Blocks. It touches only those in [i*Step-Before, (i+1)*Step+After).
type Declared struct {
	Arg                 int // number of the argument
	Ptr                 Ptr
	Bytes               int64 // at least 1
	Step, Before, After int64 // Step is at least 1
	First, Blocks       int64 // Blocks is at least 1
}

// NodeWork is the new work of a node of an instantiated graph.
type NodeWork struct {
	Node Node
	Work Work
}

// Copy copies Bytes bytes from Src to Dst; each may be device memory or pinned host memory. Pinned memory may be of any
// device of the process. Memory of another device is accessible after EnablePeer; see Peer.
type Copy struct {
	Dst, Src Ptr
	Bytes    int64
	Label    string
}

// Memset stores Value into Count elements of Width bytes (1, 2 or 4).
type Memset struct {
	Dst   Ptr
	Value uint32
	Width int
	Count int64
	Label string
}

// Nothing is work that does nothing. It serves to order other work.
type Nothing struct{}

func (*Launch) work()   {}
func (*Copy) work()     {}
func (*Memset) work()   {}
func (*HostCall) work() {}
func (Nothing) work()   {}

// CommandKind is the kind of a command.
type CommandKind uint8

const (
	Run       CommandKind = iota // run Work on Stream
	Record                       // record Event on Stream
	Await                        // make Stream wait for Event
	RunGraph                     // run Exec on Stream, as LaunchGraph does
	AwaitPeer                    // make Stream wait for Event of device Peer, as WaitPeer does
)

// Command is one step of a command list.
type Command struct {
	Kind   CommandKind
	Stream Stream
	Event  Event     // for Record, Await and AwaitPeer
	Work   Work      // for Run
	Exec   GraphExec // for RunGraph
	Peer   Device    // for AwaitPeer
}
