package des

import "math"

// overlap combines the times that the parts of a kernel's work take alone to the time of the whole. The parts run at
// once, but their overlap is imperfect: a resource close to its capacity answers later, and a latency that is hidden
// only just is not always hidden. The pipes of a multiprocessor are one part, the slowest of them, because the same
// instructions pass them.
//
//	whole = ( Σ part⁴ )^(1/4)
//
// If one part is longest by far, the whole takes as long. Two equal parts take 19 % longer than one. The exponent is
// fitted to streams with few warps (docs/TIME-MODEL.md).
type overlap struct {
	fourth float64 // sum of the fourth powers of the other parts
	pipes  float64
}

// add adds the time that a resource takes, or that the latency of the blocks takes.
func (o *overlap) add(l Limit, part float64) {
	if l.isPipe() {
		o.pipes = max(o.pipes, part)
		return
	}
	part *= part
	o.fourth += part * part
}

// whole returns the time of all parts together, which is never less than that of one of them.
func (o *overlap) whole() float64 {
	pipes := o.pipes * o.pipes
	return math.Sqrt(math.Sqrt(o.fourth + pipes*pipes))
}
