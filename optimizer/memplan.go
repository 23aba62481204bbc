package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/ir"
)

// memplan puts temporaries on the bytes of one arena, and on the same bytes where
// their lives cannot overlap. A life ends before another begins when every use of
// the one comes before every use of the other by lanes and waits, whatever the times
// of a replay:
//
//	lane 0:  write x ─► x to y ─► read y ─► write z      x, y are live at once, and so is w
//	lane 1:  write w ────────────────────────► read w    with all: but z may have x's place
//
//	     0       256      512      768
//	     ├────────┼────────┼────────┤
//	     │  x, z  │   y    │   w    │
//
// The lanes and waits stay as they are: sharing costs no concurrency. Replays follow one
// another, so the same holds from one to the next. A buffer keeps memory of its own
// when its contents are asked for outside the replay or may be.
func memplan(s *ir.Schedule, _ *Options) error {
	lives := livesOf(s)
	if len(lives) == 0 {
		return nil
	}
	offsets := arrange(dagOfSchedule(s), lives)
	s.Offset = slices.Repeat([]int64{-1}, len(s.Graph.Buffers))
	for i, l := range lives {
		s.Offset[l.buffer] = offsets[i]
	}
	return nil
}

// alignment is what the start of device memory is a multiple of, and so the start of
// every buffer in an arena. Kernels rely on it, in loads of several elements at once.
const alignment = 256

func aligned(bytes int64) int64 { return (bytes + alignment - 1) &^ (alignment - 1) }

// arrange returns an offset for each life, in their order.
func arrange(d *dense.Graph, lives []life) []int64 {
	if len(lives) > maxPacked {
		return sweepArena(d, lives)
	}
	return pack(lives, conflictsOf(d, lives))
}

// placeable reports, by buffer, whether an arena may hold it: a temporary in the first
// device's memory that is written before it is read, and that operations find through
// their operands alone. What a kernel finds by a pointer in memory stays where that leads,
// and a buffer that is read first was declared by mistake, or is written by a kernel
// that nobody could follow: it keeps what it held.
func placeable(g *ir.Graph) []bool {
	ok := readFirst(g)
	for b := range g.Buffers {
		buf := &g.Buffers[b]
		ok[b] = !ok[b] && buf.Role == ir.Temporary && buf.Place == ir.Place{} && buf.Size() > 0
	}
	for b, operand := range onlyOperands(g) {
		ok[b] = ok[b] && operand
	}
	return ok
}

// onlyOperands reports, by buffer, whether operations find it through their operands alone.
func onlyOperands(g *ir.Graph) []bool {
	ok := slices.Repeat([]bool{true}, len(g.Buffers))
	var scratch [2]ir.Access
	for v := range g.Ops {
		op := &g.Ops[v]
		accesses := op.Accesses(&scratch)
		for _, a := range accesses {
			ok[a.Buffer] = ok[a.Buffer] && (a.Empty() || names(op, a.Buffer))
		}
	}
	return ok
}

// readFirst reports, by buffer, whether any byte of it is read before a replay writes it.
func readFirst(g *ir.Graph) []bool {
	first := make([]bool, len(g.Buffers))
	unwritten := make([]spans, len(g.Buffers))
	for b := range unwritten {
		unwritten[b].insert(span{0, g.Buffers[b].Size()})
	}
	var scratch [2]ir.Access
	for v := range g.Ops {
		accesses := g.Ops[v].Accesses(&scratch)
		for _, a := range accesses {
			first[a.Buffer] = first[a.Buffer] || a.Mode.Reads() && !a.Empty() && unwritten[a.Buffer].overlaps(span{a.Lo, a.Hi})
		}
		for _, a := range accesses {
			if a.Mode.Writes() {
				unwritten[a.Buffer].remove(span{a.Lo, a.Hi})
			}
		}
	}
	return first
}

// names reports whether a buffer is an operand of op, which an instantiation replaces. The
// function of a host call keeps the memory it was written for.
func names(op *ir.Op, b ir.BufferID) bool {
	switch op.Kind {
	case ir.KindHost:
		return false
	case ir.KindLaunch:
		return slices.ContainsFunc(op.Launch.Args, func(a ir.Arg) bool { return a.Kind == ir.ArgBuffer && a.Buffer == b })
	}
	return true
}
