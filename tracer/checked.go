package tracer

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/ir"
)

// checked holds the launches of one kernel, not recorded, for which no access outside their slices was
// found. A running program repeats its launches, so a check must not take longer than a launch.
//
// It is a direct-mapped cache: a launch is looked up in the one entry that its hash selects, and the
// later of two launches with the same entry stays. Searches are paid for from a budget of work, which
// refills slowly, so that a program whose launches all differ is not slowed down.
type checked struct {
	known []calls.Hash // by hash modulo checkedLaunches: the last hash checked; nil before the first
	work  int          // budget left for searches, in the unit of access.Launch.Work
}

const (
	checkedLaunches = 256 // entries of the cache of a kernel

	// Limits of the budget of a kernel, in the unit of access.Launch.Work. It begins at maxWork and gains
	// workEach with each launch that is not in the cache. No search starts with less than minWork.
	maxWork  = 1 << 16
	minWork  = 1 << 12
	workEach = 4
)

// check fails the trace if a call that is not recorded certainly accesses bytes outside a slice that it
// is passed. It reports whether the call may run. Launches with the same shape, scalars and lengths of
// slices reach the same bytes of their slices, so one of them is checked. While the budget is used up,
// such an access may go unnoticed.
func (t *Tracer) check(c *calls.Call) bool {
	if c.Kind != ir.KindLaunch || !slices.ContainsFunc(c.Operands, t.isPart) {
		return true
	}
	kernel := t.kernel(c)
	k := &kernel.checked
	if k.known == nil {
		k.known, k.work = make([]calls.Hash, checkedLaunches), maxWork
	}
	h := t.sliceHash(c)
	at := &k.known[h%checkedLaunches]
	if *at == h {
		return true
	}
	k.work = min(k.work+workEach, maxWork)
	if err := t.search(c, kernel, &k.work); err != nil {
		t.fail(c.PC, "launch of %s: %w", kernel.name(), err)
		return false
	}
	*at = h
	return true
}

// search returns a SliceError if it finds that a launch leaves a slice. It stops when work, which it
// reduces, is used up.
func (t *Tracer) search(c *calls.Call, k *Kernel, work *int) error {
	t.values, t.sliced = t.values[:0], t.sliced[:0]
	for i := range c.Operands {
		o, slice := &c.Operands[i], wholeBuffer
		if t.isPart(*o) {
			slice = o.Range()
		}
		t.values, t.sliced = append(t.values, o.Arg()), append(t.sliced, slice)
	}
	l := &k.reach.launch
	l.Work = work
	defer func() { l.Work = nil }()
	return t.stays(t.graph, k, Shape(c.Shape), t.values, t.sliced, t.firstValue)
}

// isPart reports whether an operand is a part of a buffer.
func (t *Tracer) isPart(o calls.Operand) bool {
	return o.Kind == ir.ArgBuffer && (o.Bits != 0 || o.End != t.graph.Buffers[o.ID].Size())
}

// sliceHash returns a hash of all that decides whether a launch leaves its slices: shape, integers, and
// the length and alignment of each slice. Addresses themselves do not count, and neither do
// floating-point numbers, since kernels do not compute addresses from them.
func (t *Tracer) sliceHash(c *calls.Call) calls.Hash {
	h := c.Shape.AddTo(1)
	for i := range c.Operands {
		switch o := &c.Operands[i]; {
		case o.Kind == ir.ArgBuffer && t.isPart(*o):
			h = h.Add(uint64(o.End-int64(o.Bits))<<8 | o.Bits%alignment)
		case o.Kind == ir.ArgBuffer: // a whole buffer, which is not checked
			h = h.Add(1 << 63)
		case !o.Type.Float():
			h = h.Add(o.Bits)
		}
	}
	return h | 1 // never 0, the hash in an empty entry
}
