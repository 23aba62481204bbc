package tracer

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/ir"
)

// checked are launches of one kernel that are not recorded and were found not to leave their slices for certain. A program that runs
// makes the same launches again and again, so the check of a launch may take no longer than the launch itself.
type checked struct {
	known []calls.Hash // the last one of each hash modulo len(known); nil before the first
	work  int          // that searches may do: see ptx.Launch.Work
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
func (t *Tracer) check(c *calls.Call) bool {
	if c.Kind != ir.KindLaunch || !slices.ContainsFunc(c.Operands, t.isPart) {
		return true
	}
	kernel := t.kernel(c)
	k := &kernel.checked
	if k.known == nil {
		k.known, k.work = make([]calls.Hash, checkedLaunches), mostWork
	}
	h := t.sliceHash(c)
	at := &k.known[h%checkedLaunches]
	if *at == h {
		return true
	}
	k.work = min(k.work+workEach, mostWork)
	if err := t.search(c, kernel, &k.work); err != nil {
		t.fail(c.PC, "launch of %s: %w", kernel.name(), err)
		return false
	}
	*at = h
	return true
}

// search returns a SliceError if a launch is found to leave a slice with that much work.
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

// sliceHash is a hash of what decides whether a launch leaves its slices. Of an address only its alignment counts. No kernel is
// expected to make an address of a floating-point number.
func (t *Tracer) sliceHash(c *calls.Call) calls.Hash {
	h := c.Shape.AddTo(1)
	for i := range c.Operands {
		switch o := &c.Operands[i]; {
		case o.Kind == ir.ArgBuffer && t.isPart(*o):
			h = h.Add(uint64(o.End-int64(o.Bits))<<8 | o.Bits%alignment)
		case o.Kind == ir.ArgBuffer: // which promises nothing
			h = h.Add(1 << 63)
		case !o.Type.Float():
			h = h.Add(o.Bits)
		}
	}
	return h | 1 // none of those in a new table
}
