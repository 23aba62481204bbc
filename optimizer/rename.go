package optimizer

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// rename gives m memories to each buffer that every copy of an unrolled program overwrites. The copies
// use them in rotation, so that one copy can fill a buffer while another still reads it; m = 2 is double
// buffering. It is register renaming as in modulo variable expansion (M. Lam, PLDI 1988), with
// a given number of memories.
//
//	copy x ─► work y, x            copy x ─► work y, x
//	          copy x ─► work  ==>  copy x' ─► work y', x'
//
// It applies to device memory of which a copy reads only bytes that it has written itself (see
// fresh). The last copy uses the original memory, because its writes are the result of a
// replay. It needs m-1 times the bytes of those buffers in addition; memplan may place them on shared bytes.
func rename(m int) func(*ir.Graph) (*ir.Graph, error) {
	return func(g *ir.Graph) (*ir.Graph, error) {
		starts := copies(g)
		m := min(m, len(starts)-1)
		h := *g
		h.Ops, h.Buffers = slices.Clone(g.Ops), slices.Clone(g.Buffers)
		taken := map[string]bool{}
		for b := range g.Buffers {
			taken[g.Buffers[b].Name] = true
		}
		sets := make([][]ir.BufferID, len(g.Buffers)) // by buffer: its memories, the original first
		for b, is := range fresh(g, starts) {
			sets[b] = []ir.BufferID{ir.BufferID(b)}
			for i := 1; is && i < m; i++ {
				sets[b] = append(sets[b], ir.BufferID(len(h.Buffers)))
				another := g.Buffers[b]
				another.Name, another.Role = unused(taken, another.Name, i), ir.Temporary
				h.Buffers = append(h.Buffers, another)
			}
		}
		h.Made += len(h.Buffers) - len(g.Buffers)
		for i := range starts[1:] {
			left := len(starts) - 2 - i // copies that follow
			for v := starts[i]; v < starts[i+1]; v++ {
				h.Ops[v] = substituted(g.Ops[v], func(b ir.BufferID) ir.BufferID { return sets[b][left%len(sets[b])] })
			}
		}
		return &h, nil
	}
}

// unused returns a name that is not taken, and marks it as taken.
func unused(taken map[string]bool, name string, i int) string {
	name = fmt.Sprintf("%s.%d", name, i)
	for taken[name] {
		name += "'"
	}
	taken[name] = true
	return name
}

// fresh reports, by buffer, whether every copy of the program overwrites it: a copy writes each byte before it
// reads it, and the last copy writes every byte that another copy writes. The second condition can fail if
// buffers are rotated. A copy and a fill write all of their range. A kernel may leave bytes unwritten,
// so that its writes count only for temporaries, whose contents are dead after a replay by
// declaration.
func fresh(g *ir.Graph, starts []int) []bool {
	ok := usedBuffers(g)
	for b := range ok {
		ok[b] = ok[b] && g.Buffers[b].Place == ir.Place{} && g.Buffers[b].Role != ir.Constant
	}
	for b, operand := range onlyOperands(g) {
		ok[b] = ok[b] && operand
	}
	var scratch [2]ir.Access
	var one [1]span
	grids := newGrids(g)
	var kept []spans // by buffer: the bytes that the last copy does not write
	for i := len(starts) - 2; i >= 0; i-- {
		unwritten := make([]spans, len(g.Buffers))
		for b := range unwritten {
			unwritten[b].insert(grids.whole(g, ir.BufferID(b)))
		}
		for v := starts[i]; v < starts[i+1]; v++ {
			op := &g.Ops[v]
			accesses := op.Accesses(&scratch)
			writes := func(a ir.Access) bool {
				return a.Mode == ir.Write && (op.Kind == ir.KindCopy || op.Kind == ir.KindMemset || g.Buffers[a.Buffer].Role == ir.Temporary)
			}
			for _, a := range accesses {
				if a.Empty() {
					continue
				}
				for _, bytes := range grids.of(a, &one).spans {
					needed := !writes(a) && unwritten[a.Buffer].overlaps(bytes)
					outlives := kept != nil && g.Buffers[a.Buffer].Role != ir.Temporary && kept[a.Buffer].overlaps(bytes)
					if needed || outlives {
						ok[a.Buffer] = false
					}
				}
			}
			for _, a := range accesses {
				if writes(a) {
					grids.remove(a, unwritten)
				}
			}
		}
		if kept == nil {
			kept = unwritten
		}
	}
	return ok
}
