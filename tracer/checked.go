package tracer

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// checked are launches of one kernel that are not recorded and were found not to leave their slices for certain. A program that runs
// makes the same launches again and again, so the check of a launch may take no longer than the launch itself.
type checked struct {
	known []hash // the last one of each hash modulo len(known); nil before the first
	work  int    // that searches may do: see ptx.Launch.Work
}

const (
	checkedLaunches = 256 // that are remembered of a kernel
	// Searches for a thread that leaves a slice may do mostWork for a kernel, and then workEach for each launch that is not
	// remembered. None begins with less than leastWork.
	mostWork  = 1 << 16
	leastWork = 1 << 12
	workEach  = 4
)

// check fails the trace where a call that is not recorded certainly leaves a slice that it is passed, and reports whether it does not. Launches
// with the same shape, scalars and lengths of slices reach the same bytes of their slices, and are checked once. Where searches have
// done all the work that they may, a launch may leave a slice unnoticed.
func (t *Tracer) check(c *call) bool {
	if c.kind != ir.KindLaunch || !slices.ContainsFunc(c.operands, t.isPart) {
		return true
	}
	k := &c.kernel.checked
	if k.known == nil {
		k.known, k.work = make([]hash, checkedLaunches), mostWork
	}
	h := t.sliceHash(c)
	at := &k.known[h%checkedLaunches]
	if *at == h {
		return true
	}
	k.work = min(k.work+workEach, mostWork)
	if err := t.search(c, &k.work); err != nil {
		t.fail(c.pc, "launch of %s: %w", c.kernel.name(), err)
		return false
	}
	*at = h
	return true
}

// search returns a SliceError if a launch is found to leave a slice with that much work.
func (t *Tracer) search(c *call, work *int) error {
	t.values, t.sliced = t.values[:0], t.sliced[:0]
	for i := range c.operands {
		o, slice := &c.operands[i], wholeBuffer
		if t.isPart(*o) {
			slice = o.span()
		}
		t.values, t.sliced = append(t.values, o.arg()), append(t.sliced, slice)
	}
	l := &c.kernel.reach.launch
	l.Work = work
	defer func() { l.Work = nil }()
	return t.stays(t.graph, c.kernel, c.shape, t.values, t.sliced, t.firstValue)
}

// isPart reports whether an operand is a part of a buffer.
func (t *Tracer) isPart(o operand) bool {
	return o.kind == ir.ArgBuffer && (o.bits != 0 || o.end != t.graph.Buffers[o.id].Size())
}

// sliceHash is a hash of what decides whether a launch leaves its slices. Of an address only its alignment counts. No kernel is
// expected to make an address of a floating-point number.
func (t *Tracer) sliceHash(c *call) hash {
	h := c.shape.hash(1)
	for i := range c.operands {
		switch o := &c.operands[i]; {
		case o.kind == ir.ArgBuffer && t.isPart(*o):
			h = h.add(uint64(o.end-int64(o.bits))<<8 | o.bits%alignment)
		case o.kind == ir.ArgBuffer: // which promises nothing
			h = h.add(1 << 63)
		case !o.typ.Float():
			h = h.add(o.bits)
		}
	}
	return h | 1 // none of those in a new table
}
