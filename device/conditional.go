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

// Check returns an error if the description is invalid. It does not check that the condition exists.
func (c *Conditional) Check() *Error {
	switch {
	case c.Kind > Switch:
		return refuse(InvalidValue, "a conditional node of kind %d; want If, While or Switch", uint8(c.Kind))
	case c.Bodies < 1, c.Kind == While && c.Bodies > 1, c.Kind == If && c.Bodies > 2, c.Bodies > maxBodies:
		return refuse(InvalidValue, "%d bodies in a %v node; an if node has 1 or 2, a while node 1, a switch node 1 to %d", c.Bodies, c.Kind, maxBodies)
	}
	return nil
}

// maxBodies bounds the number of bodies, so that a wrong number does not exhaust the memory.
const maxBodies = 1 << 16

// Select returns the number of the body that a value of the condition selects, or -1 if it selects none.
func (k ConditionalKind) Select(value uint32, bodies int) int {
	n := int64(value)
	if k != Switch {
		n = 0
		if value == 0 {
			n = 1
		}
	}
	if n >= int64(bodies) {
		return -1
	}
	return int(n)
}

// CheckBodyWork returns an error if the body of a conditional node cannot hold the work.
func CheckBodyWork(w Work) *Error {
	if h, ok := w.(*HostCall); ok && h != nil {
		return refuse(NotSupported, "host call %q in the body of a conditional node; bodies hold launches, copies, memsets, nothing and conditional nodes", h.Label)
	}
	return nil
}

// ForeignCondition returns the error for a condition that belongs to another graph than its node.
func ForeignCondition(c Condition) *Error {
	return refuse(InvalidValue, "condition %#x is of another graph", uint64(c))
}

// UnreadCondition returns the error for a condition that no conditional node reads. CUDA does not specify what
// happens with one.
func UnreadCondition(c Condition) *Error {
	return refuse(InvalidValue, "condition %#x of the graph is read by no conditional node of it", uint64(c))
}

// BodyAlone returns the error for a body that is used as a whole graph.
func BodyAlone(g Graph) *Error {
	return refuse(InvalidValue, "graph %d is the body of a conditional node and part of its graph", g)
}

// ForeignBody returns the error for a graph that is not a body of the instance.
func ForeignBody(g Graph, x GraphExec) *Error {
	return refuse(InvalidValue, "graph %d is not a body of graph instance %d", g, x)
}
