package optimizer

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// unroll makes one program of k replays. The host then launches once instead of k times, and the
// beginning of a replay can run concurrently with the end of the one before:
//
//	a ─► b ─► c ─► d      ==>      a ─► b ─► c ─► d
//	                               └─► a' ─► b' ─► c' ─► d'
//
// The copies are of one trace. The pass hazards finds the dependencies that accesses require, within a copy
// and between copies. Parameters are the same for all copies. Effects that accesses do not show would be
// ordered between separate replays, and must be ordered between copies too. An After edge from u
// to v may stand for bytes that u writes and v reads: the next u runs after v. A host
// call, which may not be reentrant, and an operation without accesses run after their own
// previous copy.
//
// The result equals that of k replays without writes of inputs or reads of outputs between them. The
// graph has k times as many nodes. Only the pass rename takes more memory.
func unroll(k int) func(*ir.Graph) (*ir.Graph, error) {
	return func(g *ir.Graph) (*ir.Graph, error) {
		n := g.Len()
		if g.Phase >= ir.Analyzed {
			return nil, fmt.Errorf("%s already has dependencies, and those between copies are unknown: unroll the trace instead", g.Name)
		}
		if n > maxUnrolled/k {
			return nil, fmt.Errorf("%d copies of %d operations exceed the limit of %d operations: use unroll(%d) at most", k, n, maxUnrolled, max(1, maxUnrolled/n))
		}
		h := *g
		h.Ops, h.Origin, h.Recorded = make([]ir.Op, 0, k*n), make([]ir.OpID, 0, k*n), recorded(g)
		h.Copies = k * max(1, g.Copies)
		again := orderedBefore(g)
		for copied := range k {
			for v := range n {
				op := g.Ops[v]
				op.After = after(op.After, again[v], copied, n)
				h.Ops, h.Origin = append(h.Ops, op), append(h.Origin, traced.Origin(g, ir.OpID(v)))
			}
		}
		return &h, nil
	}
}

// maxUnrolled is the largest number of operations of an unrolled program. Planning this number takes two to
// three gigabytes.
const maxUnrolled = 1 << 21

// after returns the After list of an operation in one of the copies of n operations: within its copy, and
// behind operations of the copy before.
func after(within, before []ir.OpID, copied, n int) []ir.OpID {
	if copied == 0 || len(within)+len(before) == 0 {
		return within
	}
	var all []ir.OpID
	for _, u := range before {
		all = append(all, u+ir.OpID((copied-1)*n))
	}
	for _, u := range within {
		all = append(all, u+ir.OpID(copied*n))
	}
	return all
}

// orderedBefore returns, by operation, which operations of the copy before it must precede it although no access
// shows it: those ordered after it, or else itself.
func orderedBefore(g *ir.Graph) [][]ir.OpID {
	before := make([][]ir.OpID, g.Len())
	for v := range g.Ops {
		for _, u := range g.Ops[v].After {
			if w := before[u]; len(w) == 0 || w[len(w)-1] != ir.OpID(v) {
				before[u] = append(w, ir.OpID(v))
			}
		}
	}
	var scratch [2]ir.Access
	for v := range g.Ops {
		op := &g.Ops[v]
		accesses := op.Accesses(&scratch)
		unseen := op.Kind == ir.KindHost || len(op.After) > 0 || !slices.ContainsFunc(accesses, func(a ir.Access) bool { return !a.Empty() })
		if len(before[v]) == 0 && unseen {
			before[v] = []ir.OpID{ir.OpID(v)}
		}
	}
	return before
}

// copies returns the indexes at which the copies of an unrolled program begin, and its length. Within a copy,
// operations are in the order of the trace, so that a copy begins where the origin does not increase.
func copies(g *ir.Graph) []int {
	starts := []int{0}
	for v := 1; v < len(g.Origin); v++ {
		if g.Origin[v] <= g.Origin[v-1] {
			starts = append(starts, v)
		}
	}
	return append(starts, g.Len())
}

// substituted returns an operation with its buffers replaced.
func substituted(op ir.Op, with func(ir.BufferID) ir.BufferID) ir.Op {
	in := func(r ir.Range) ir.Range {
		r.Buffer = with(r.Buffer)
		return r
	}
	op.Uses = slices.Clone(op.Uses)
	for i := range op.Uses {
		op.Uses[i].Range = in(op.Uses[i].Range)
	}
	switch op.Kind {
	case ir.KindLaunch:
		l := *op.Launch
		l.Args = slices.Clone(l.Args)
		for i := range l.Args {
			if a := &l.Args[i]; a.Kind == ir.ArgBuffer {
				a.Buffer = with(a.Buffer)
			}
		}
		op.Launch = &l
	case ir.KindCopy:
		op.Copy = &ir.Copy{Dst: in(op.Copy.Dst), Src: in(op.Copy.Src)}
	case ir.KindMemset:
		op.Memset = &ir.Memset{Dst: in(op.Memset.Dst), Value: op.Memset.Value}
	case ir.KindPrefetch:
		op.Prefetch = &ir.Prefetch{Range: in(op.Prefetch.Range), ToDevice: op.Prefetch.ToDevice}
	}
	return op
}
