// Package lowered is the view of an instantiated schedule as handles of its device: where the work of each operation
// is. Package graphexec implements it; package verify compares it with what a device received.
package lowered

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// Of returns the program of a *graphexec.Exec, whose package sets it. ok is false if the host runs loops and branches,
// because the device cannot: all operations then run one after another in submission order.
var Of func(exec any) (p Program, ok bool)

// Program is the handles and addresses of an instantiated schedule.
type Program struct {
	// Operations are those of the schedule in program order, then those of the bodies of loops and branches, body by
	// body.
	Operations []Operation
	Address    []device.Ptr // by buffer; 0 for one that no operation uses
}

// Operation is an operation of a schedule or of one of its bodies.
type Operation struct {
	Schedule *ir.Schedule // that contains it
	Op       ir.OpID      // its number there
	Name     string       // "square#2 at vec.go:41", with the loops and branches around it

	At    []Handle // the work of the operation: none if it does nothing, a conditional node for a loop or a branch
	Reads []Handle // of a loop or a branch: the kernels that read its scalar, outside and inside its body
}

// Handle is a node of a graph or a command of a list.
type Handle struct {
	Exec device.GraphExec // of a node: the instance that holds it
	Body device.Graph     // of a node: the body that holds it; 0 for the graph itself
	Node device.Node      // 0 for a command

	List    device.CommandList
	Command int // index in the list
}
