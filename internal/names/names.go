// Package names maps the labels of a replay's work, as a device reports it, to the operations of the schedule. Package
// graphexec sets the function; reports of what ran use it.
package names

import (
	"regexp"
	"strconv"

	"github.com/reprise-gpu/reprise/ir"
)

// Place is an operation of a schedule, or of a body in it.
type Place struct {
	Schedule *ir.Schedule // the schedule that contains the operation: the whole one, or that of a body
	Op       ir.OpID      // its number in that schedule
	Name     string       // without the path of a body: see package opname
	Path     string       // of a body, as in "%1/" and "%1/else/"; "" outside of bodies
	Body     string       // the same with names, as in "solve/" and "choose/else/"
}

// Of returns the operations of a *graphexec.Exec by the labels of their work. The label of work in an iteration of a loop
// has the number of the iteration after it.
var Of func(exec any) map[string]Place

// iterated matches the label of work in a loop: the name of its operation, and the iteration.
var iterated = regexp.MustCompile(`^(.*) \[(\d+)\]$`)

// Find returns the operation of a label, and the iteration of the loop around it, or 0. ok is false for work of the back end's own.
func Find(operations map[string]Place, label string) (at Place, iteration int, ok bool) {
	if at, ok = operations[label]; ok {
		return at, 0, true
	}
	m := iterated.FindStringSubmatch(label)
	if m == nil {
		return at, 0, false
	}
	iteration, err := strconv.Atoi(m[2])
	at, ok = operations[m[1]]
	return at, iteration, ok && err == nil
}
