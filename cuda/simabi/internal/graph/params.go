package graph

// Kind is the type of a node, with the driver's numbers.
type Kind uint8

// The kinds of nodes.
const (
	KernelNode Kind = iota
	MemcpyNode
	MemsetNode
	HostNode
	ChildNode
	EmptyNode
	WaitEventNode
	EventRecordNode
	SemaphoreSignalNode
	SemaphoreWaitNode
	MemAllocNode
	MemFreeNode
	BatchMemOpNode
	ConditionalNode
)

var kindNames = [...]string{
	KernelNode: "kernel", MemcpyNode: "memcpy", MemsetNode: "memset", HostNode: "host", ChildNode: "child graph",
	EmptyNode: "empty", WaitEventNode: "event wait", EventRecordNode: "event record",
	SemaphoreSignalNode: "semaphore signal", SemaphoreWaitNode: "semaphore wait",
	MemAllocNode: "mem alloc", MemFreeNode: "mem free", BatchMemOpNode: "batch mem op", ConditionalNode: "conditional",
}

func (k Kind) String() string { return kindNames[k] }

// Params is what a node does. It is immutable: a node is given another.
type Params interface {
	Kind() Kind
	// Becomes says whether an instance's node that does this can do next instead,
	// which is of the same kind.
	Becomes(next Params) Reason
}

// Nest is a Params that contains graphs. They belong to the node.
type Nest interface {
	Params
	Bodies() []*Graph
	// With is the same over other bodies.
	With(bodies []*Graph) Params
}

// Empty only orders.
type Empty struct{}

// Kind is EmptyNode.
func (Empty) Kind() Kind { return EmptyNode }

// Becomes allows all: nothing can have changed.
func (Empty) Becomes(Params) Reason { return Same }

// Child is a graph inside a graph.
type Child struct{ Graph *Graph }

// Kind is ChildNode.
func (Child) Kind() Kind { return ChildNode }

// Becomes allows all: what matters is whether the graphs match.
func (Child) Becomes(Params) Reason { return Same }

// Bodies is the one graph.
func (c Child) Bodies() []*Graph { return []*Graph{c.Graph} }

// With is a child with another graph.
func (Child) With(bodies []*Graph) Params { return Child{bodies[0]} }
