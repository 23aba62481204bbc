package tracer

import (
	"strings"

	"github.com/reprise-gpu/reprise/ir"
)

// Op is a recorded call. A call that was not recorded, because the tracer runs calls at once or has an error, has the zero
// Op.
type Op struct {
	t  *Tracer
	in *recording
	id ir.OpID
}

// Named sets the label of the operation, by which reports and errors show it, and by which Exec.Apply finds it. It returns
// the operation. Several operations may have one label: they are told apart by a number, as in "smooth#2". An operation
// without a label has the name of its kernel, with a number if the kernel is launched several times. Named must be called
// before Finish, and for a call in the body of a loop or a branch before the body ends.
func (o Op) Named(label string) Op {
	switch {
	case o.t == nil || o.t.stopped():
	case label == "" || strings.HasPrefix(label, "%"):
		o.t.fail(o.t.callerPC(), "an operation is named %q: use a label that is not empty and does not begin with %%, as numbers of operations do", label)
	case o.in.collected:
		o.t.fail(o.t.callerPC(), "operation %q of a body is named after the body has ended: name it inside", label)
	default:
		if o.in.labels == nil {
			o.in.labels = map[ir.OpID]string{}
		}
		o.in.labels[o.id] = label
	}
	return o
}
