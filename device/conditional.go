package device

import "fmt"

// Condition is the handle of a number that kernels set and that conditional nodes read. A kernel receives the handle
// as a 64-bit parameter and passes it to cudaGraphSetConditional(handle, value).
type Condition uint64

// Looper is a device with conditional nodes. A conditional node holds graphs, its bodies. Its condition selects the
// body that runs and, in a loop, whether the body runs again. A device may implement Looper although its driver is
// too old for conditional nodes: CreateCondition then returns NotSupported with the reason.
type Looper interface {
	// CreateCondition creates a condition for conditional nodes of a graph and of the bodies in it. The condition is
	// freed with the graph and its instances. Each launch of the graph resets it to initial.
	CreateCondition(g Graph, initial uint32) (Condition, error)
	// AddConditional adds a conditional node that runs after deps, and returns the graphs that are its bodies.
	// AddNode and AddConditional add nodes to a body until the graph is instantiated. A body may hold launches,
	// copies, memsets, nothing and conditional nodes. A body is destroyed with its graph and cannot be instantiated
	// alone.
	AddConditional(g Graph, deps []Node, c Conditional) (Node, []Graph, error)
	// UpdateBodyNode is UpdateNode for a node of a body.
	UpdateBodyNode(x GraphExec, body Graph, n Node, w Work) error
}

// Conditional describes a conditional node.
type Conditional struct {
	Kind      ConditionalKind
	Condition Condition
	Bodies    int    // number of bodies
	Label     string // name of the node in errors and traces
}

// ConditionalKind selects how the value of the condition selects a body.
type ConditionalKind uint8

const (
	// If runs the first body if the condition is not 0, and otherwise the second body, if there is one.
	If ConditionalKind = iota
	// While runs its only body repeatedly as long as the condition is not 0.
	While
	// Switch runs body number i, counted from 0, if the condition is i and there is such a body.
	Switch
)

var conditionalKinds = [...]string{If: "if", While: "while", Switch: "switch"}

func (k ConditionalKind) String() string {
	if int(k) < len(conditionalKinds) {
		return conditionalKinds[k]
	}
	return fmt.Sprintf("conditional kind %d", uint8(k))
}
