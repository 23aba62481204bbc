package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/ir"
)

// memplan places temporaries in one arena. Buffers whose lives cannot overlap share
// bytes. A life ends before another begins if lanes and waits order every use of the
// one before every use of the other, independently of times:
//
//	lane 0:  write x ─► x to y ─► read y ─► write z      x and y are live at once, w overlaps
//	lane 1:  write w ────────────────────────► read w    all: only z can have x's place
//
//	     0       256      512      768
//	     ├────────┼────────┼────────┤
//	     │  x, z  │   y    │   w    │
//
// Lanes and waits do not change, so that sharing costs no concurrency. Replays follow one
// another, so that the same holds from one replay to the next. A buffer keeps its own memory
// if its contents are used outside the replay, or may be (see placeable).
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

// alignment is that of the start of device memory, in bytes, and hence of every buffer
// in an arena. Kernels rely on it in vector loads.
const alignment = 256

// aligned rounds a size up to a multiple of alignment.
func aligned(bytes int64) int64 { return (bytes + alignment - 1) &^ (alignment - 1) }

// arrange returns the offset of each life in the arena.
func arrange(d *dense.Graph, lives []life) []int64 {
	if len(lives) > maxPacked {
		return sweepArena(d, lives)
	}
	return pack(lives, conflictsOf(d, lives))
}

// placeable reports, by buffer, whether an arena may hold it. It must be a temporary in the memory
// of the first device that is written before it is read, and operations must access it only through
// their operands: a pointer stored in memory would still point to the old place. A buffer that is
// read first was declared by mistake, or is written by a kernel that could not be analyzed, and must
// keep its contents.
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

// onlyOperands reports, by buffer, whether operations access it only through their operands.
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

// readFirst reports, by buffer, whether any byte of it is read before a replay writes it. Both the bytes of accesses
// with strides and their whole ranges are compared, as the verifier compares the ranges in an arena.
func readFirst(g *ir.Graph) []bool {
	first := readFirstIn(g, nil)
	if grids := newGrids(g); grids != nil {
		for b, is := range readFirstIn(g, grids) {
			first[b] = first[b] || is
		}
	}
	return first
}

// readFirstIn is readFirst for the bytes in grids, or for ranges if it is nil.
func readFirstIn(g *ir.Graph, grids grids) []bool {
	first := make([]bool, len(g.Buffers))
	unwritten := make([]spans, len(g.Buffers))
	for b := range unwritten {
		unwritten[b].insert(grids.whole(g, ir.BufferID(b)))
	}
	var scratch [2]ir.Access
	var one [1]span
	for v := range g.Ops {
		accesses := g.Ops[v].Accesses(&scratch)
		for _, a := range accesses {
			if !a.Mode.Reads() || a.Empty() || first[a.Buffer] {
				continue
			}
			first[a.Buffer] = slices.ContainsFunc(grids.of(a, &one).spans, unwritten[a.Buffer].overlaps)
		}
		for _, a := range accesses {
			if a.Mode.Writes() && !a.Empty() {
				grids.remove(a, unwritten)
			}
		}
	}
	return first
}

// names reports whether a buffer is an operand of op that an instantiation can replace. The
// function of a host call is bound to its memory.
func names(op *ir.Op, b ir.BufferID) bool {
	switch op.Kind {
	case ir.KindHost:
		return false
	case ir.KindLaunch:
		return slices.ContainsFunc(op.Launch.Args, func(a ir.Arg) bool { return a.Kind == ir.ArgBuffer && a.Buffer == b })
	}
	return true
}
