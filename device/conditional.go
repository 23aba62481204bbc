package device

import "fmt"

// Condition is a number that kernels set and that conditional nodes read. A kernel
// gets it as a 64-bit parameter, for cudaGraphSetConditional(handle, value).
type Condition uint64

// Looper is a device whose graphs decide while they run what they run: a
// conditional node holds graphs, its bodies, of which a condition selects what to run
// and, in a loop, whether to run it again. A device may implement it and still lack it,
// as a driver does that is too old: then CreateCondition answers NotSupported, with
// the reason.
type Looper interface {
	// CreateCondition makes a condition for nodes of a graph and of the bodies in it,
	// which is freed with the graph and its instances. Each launch begins with the
	// condition at initial.
	CreateCondition(g Graph, initial uint32) (Condition, error)
	// AddConditional adds a node that runs after deps, and returns its bodies, which
	// AddNode and AddConditional add nodes to until the graph is instantiated. A body
	// holds launches, copies, memsets, nothing and conditional nodes. It belongs to
	// the node: it is destroyed with its graph and cannot be instantiated alone.
	AddConditional(g Graph, deps []Node, c Conditional) (Node, []Graph, error)
	// UpdateBodyNode is UpdateNode for a node of a body.
	UpdateBodyNode(x GraphExec, body Graph, n Node, w Work) error
}

// Conditional describes a conditional node.
type Conditional struct {
	Kind      ConditionalKind
	Condition Condition
	Bodies    int    // how many
	Label     string // what errors and traces call the node
}

// ConditionalKind says how a condition selects a body.
type ConditionalKind uint8

const (
	// If runs the first body when the condition is not 0, and the second, which it may
	// lack, when it is.
	If ConditionalKind = iota
	// While runs its one body as long as the condition is not 0.
	While
	// Switch runs the body whose number the condition is, counted from 0, if there is one.
	Switch
)

var conditionalKinds = [...]string{If: "if", While: "while", Switch: "switch"}

func (k ConditionalKind) String() string {
	if int(k) < len(conditionalKinds) {
		return conditionalKinds[k]
	}
	return fmt.Sprintf("conditional kind %d", uint8(k))
}

// Check says what is wrong with a description before its condition is looked at.
func (c *Conditional) Check() *Error {
	switch {
	case c.Kind > Switch:
		return refuse(InvalidValue, "a conditional node of kind %d; want If, While or Switch", uint8(c.Kind))
	case c.Bodies < 1, c.Kind == While && c.Bodies > 1, c.Kind == If && c.Bodies > 2, c.Bodies > maxBodies:
		return refuse(InvalidValue, "%d bodies in a %v node; an if node has 1 or 2, a while node 1, a switch node 1 to %d", c.Bodies, c.Kind, maxBodies)
	}
	return nil
}

// maxBodies keeps a wrong number from allocating all memory.
const maxBodies = 1 << 16

// Select is the number of the body that a value of the condition selects, and -1
// when it selects none.
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

// CheckBodyWork says why a work cannot be in the body of a conditional node.
func CheckBodyWork(w Work) *Error {
	if h, ok := w.(*HostCall); ok && h != nil {
		return refuse(NotSupported, "host call %q in the body of a conditional node; bodies hold launches, copies, memsets, nothing and conditional nodes", h.Label)
	}
	return nil
}

// ForeignCondition refuses a condition of another graph than its node is to be in.
func ForeignCondition(c Condition) *Error {
	return refuse(InvalidValue, "condition %#x is of another graph", uint64(c))
}

// UnreadCondition refuses a graph with a condition that decides nothing: what a driver makes
// of one is its own affair.
func UnreadCondition(c Condition) *Error {
	return refuse(InvalidValue, "condition %#x of the graph is read by no conditional node of it", uint64(c))
}

// BodyAlone refuses a body where a whole graph is wanted.
func BodyAlone(g Graph) *Error {
	return refuse(InvalidValue, "graph %d is the body of a conditional node and part of its graph", g)
}

// ForeignBody refuses a graph that an instance was not made of.
func ForeignBody(g Graph, x GraphExec) *Error {
	return refuse(InvalidValue, "graph %d is no body of graph instance %d", g, x)
}
