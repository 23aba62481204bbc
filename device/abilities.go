package device

// This file holds the abilities that only some devices have. A client tests for each with a type assertion. Two
// more, which simulated devices have, are in terms of package device/model: a method Profile, which model.Of calls, and
// a method CountLaunches, which optimizer.Measure calls.

// Looper is a device with conditional nodes: nodes that hold graphs, their bodies, and a condition that selects the body
// that runs and, in a loop, whether it runs again.
type Looper interface {
	// CreateCondition creates a condition for conditional nodes of a graph and of the bodies in it. The condition is
	// freed with the graph and its instances. Each launch of the graph resets it to initial. If
	// the driver is too old for conditional nodes, CreateCondition returns NotSupported with the reason.
	CreateCondition(g Graph, initial uint32) (Condition, error)
	// AddConditional adds a conditional node that runs after deps, and returns the graphs that are its bodies.
	// AddNode and AddConditional add nodes to a body until the graph is instantiated. A body may hold launches,
	// copies, memsets, nothing and conditional nodes. A body is destroyed with its graph and cannot be instantiated
	// alone.
	AddConditional(g Graph, deps []Node, c Conditional) (Node, []Graph, error)
	// UpdateBodyNode is UpdateNode for a node of a body.
	UpdateBodyNode(x GraphExec, body Graph, n Node, w Work) error
}

// Peer is a device that works together with other devices of the same process. Addresses of their memory, and of pinned
// memory, are distinct.
//
// A Copy between the memories of two devices is submitted to a stream of either. It is direct if EnablePeer was called on
// the device of the stream, and refused with NotSupported otherwise: the caller must then copy through pinned memory.
// Memsets, Read and Write access only memory of their own device.
//
// As with Wait, an event stands for its latest record before the call. A program that repeats command lists of several
// devices must therefore submit the part of a list that records an event before the part of another list that waits for
// it. Faults of simulated devices do not pass from device to device: work that waits for an event of a device with a
// fault runs. After a fault, a GPU's driver may fail the calls of all devices of the process.
//
// The other device may be wrapped. A wrapper then has a method Unwrap() Device.
type Peer interface {
	// CanPeer reports whether copies between the two memories can be direct and kernels can access the other memory.
	CanPeer(other Device) bool
	// EnablePeer gives kernels and copies of this device access to the memory of other, present and future. Calling it
	// again has no effect. It returns NotSupported where CanPeer is false.
	EnablePeer(other Device) error
	// WaitPeer is Wait for an event of another device. Both may have different profiles and need not be peers.
	WaitPeer(s Stream, other Device, e Event) error
	// AddPeerNode is AddNode for a node that another device of the process runs, with its functions and its memory. The
	// graph is launched on a stream of this device. It must not be the body of a conditional node. The node cannot be
	// updated; UpdateNode may return NotSupported.
	AddPeerNode(g Graph, deps []Node, other Device, w Work) (Node, error)
}

// Manager is a device with managed memory: memory with one address for the host and for kernels, which migrates to
// the side that accesses it.
type Manager interface {
	// AllocManaged returns the address and the bytes of managed memory, which is initially on the host. The bytes
	// stay valid until Free. The host must not access them while work that uses them is in progress, and must call
	// ToHost before it accesses bytes that work may have moved.
	AllocManaged(bytes int64) (Ptr, []byte, error)
	// ToHost waits for all work, then moves managed memory to the host. The driver of a GPU moves pages when accesses
	// of the host fault. A simulated device cannot detect accesses of the host, so the host must call ToHost.
	ToHost(p Ptr, bytes int64) error
}

// Ledger is a device that keeps a list of its allocations, so that the holder of an address can detect that the memory
// was freed or that the address now belongs to another allocation.
type Ledger interface {
	// Allocation returns the allocation that contains the given number of bytes at p.
	Allocation(p Ptr, bytes int64) (Allocation, error)
	// Freed returns the number of allocations freed so far. While it is constant, every allocation remains valid.
	Freed() uint64
}

// Namer is a device that accepts names of allocations, to use them in its reports.
type Namer interface{ NameMemory(p Ptr, name string) }

// Accounter is a device that reports its live resources.
type Accounter interface{ Live() Live }
