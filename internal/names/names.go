// Package names maps the labels of a replay's work, as a device reports it, to the operations of the schedule. Package
// graphexec sets the function; reports of what ran use it.
package names

import "github.com/reprise-gpu/reprise/ir"

// Place is an operation of a schedule, or of a body in it.
type Place struct {
	Schedule *ir.Schedule // the schedule that contains the operation: the whole one, or that of a body
	Op       ir.OpID      // its number in that schedule
	Name     string       // without the path of a body: see package opname
	Path     string       // of a body, as in "%1/" and "%1/else/"; "" outside of bodies
}

// Of returns the operations of a *graphexec.Exec by the labels of their work. The label of work in an iteration of a loop
// has the number of the iteration after it.
var Of func(exec any) map[string]Place
