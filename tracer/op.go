package tracer

import (
	"slices"
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

// After orders the operation behind others, although no accesses require it. It returns the operation. The order holds within
// a replay, and checks of plans prove it like any other. The others must be earlier, and of the same body. After must be
// called before Finish, and for a call in the body of a loop or a branch before the body ends. The zero Op orders nothing.
func (o Op) After(others ...Op) Op {
	if o.t == nil || o.t.stopped() {
		return o
	}
	if o.in.collected {
		o.t.fail(o.t.callerPC(), "an operation of a body is ordered after the body has ended: order it inside")
		return o
	}
	for _, u := range others {
		switch {
		case u.t == nil:
		case u.t != o.t:
			o.t.fail(o.t.callerPC(), "%v is ordered behind an operation of another trace: order operations of one trace", o.id)
		case u.in != o.in:
			o.t.fail(o.t.callerPC(), "%v is ordered behind an operation of another body: order operations of one body, or the loops and branches themselves", o.id)
		case u.id >= o.id:
			o.t.fail(o.t.callerPC(), "%v is ordered behind %v, which is not earlier: record it first", o.id, u.id)
		default:
			o.in.orderAfter(o.id, u.id)
		}
	}
	return o
}

// orderAfter orders v behind u.
func (r *recording) orderAfter(v, u ir.OpID) {
	if r.after == nil {
		r.after = map[ir.OpID][]ir.OpID{}
	}
	if i, found := slices.BinarySearch(r.after[v], u); !found {
		r.after[v] = slices.Insert(r.after[v], i, u)
	}
}
