package graph

// Kind is the type of a node. The values are the driver's.
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

// Params are the parameters of a node. They are immutable: a change replaces them.
type Params interface {
	Kind() Kind
	// Becomes reports whether an instance's node with these parameters can take next,
	// which has the same kind.
	Becomes(next Params) Reason
}

// Nest is implemented by Params that contain graphs, which belong to the node.
type Nest interface {
	Params
	Bodies() []*Graph
	// With returns the same parameters with other graphs.
	With(bodies []*Graph) Params
}

// Empty is a node without work.
type Empty struct{}

// Kind returns EmptyNode.
func (Empty) Kind() Kind { return EmptyNode }

// Becomes returns Same: there are no parameters.
func (Empty) Becomes(Params) Reason { return Same }

// Child is a nested graph.
type Child struct{ Graph *Graph }

// Kind returns ChildNode.
func (Child) Kind() Kind { return ChildNode }

// Becomes returns Same: Match compares the nodes of the graphs.
func (Child) Becomes(Params) Reason { return Same }

// Bodies returns the nested graph.
func (c Child) Bodies() []*Graph { return []*Graph{c.Graph} }

// With returns a Child with another graph.
func (Child) With(bodies []*Graph) Params { return Child{bodies[0]} }
