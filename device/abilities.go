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
