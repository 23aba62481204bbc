package device

import "fmt"

// Condition is the handle of a number that kernels set and that conditional nodes read. A kernel receives the handle
// as a 64-bit parameter and passes it to cudaGraphSetConditional(handle, value).
type Condition uint64

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
