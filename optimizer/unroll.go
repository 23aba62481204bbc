package optimizer

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// unroll makes one program of k replays, so that the host launches once where it did k times,
// and what a replay begins with can run beside what the one before ends with:
//
//	a ─► b ─► c ─► d      ==>      a ─► b ─► c ─► d
//	                               └─► a' ─► b' ─► c' ─► d'
//
// The copies are of one trace: what its accesses order is found in the hazards, within a copy and
// from one to the next, and parameters are the same for all. What accesses do not show, a
// replay that follows another would have kept apart all the same, and so do the copies.
// An edge "after" from u to v is taken to stand for bytes that u writes and v reads: u runs again
// after v has. A host call, which need not be ready to be called twice at once, and an operation
// without accesses run again after themselves.
//
// What an unrolled program leaves is what k replays leave between which nobody writes an input
// or reads an output. It takes k times the nodes of a graph, and no more memory but with rename.
func unroll(k int) func(*ir.Graph) (*ir.Graph, error) {
	return func(g *ir.Graph) (*ir.Graph, error) {
		n := g.Len()
		if g.Phase >= ir.Analyzed {
			return nil, fmt.Errorf("the dependencies of %s are made out already, and from one copy to the next they are not known: unroll the trace", g.Name)
		}
		if n > maxUnrolled/k {
			return nil, fmt.Errorf("%d copies of %d operations are more than the %d that are planned together: write unroll(%d) at most", k, n, maxUnrolled, max(1, maxUnrolled/n))
		}
		h := *g
		h.Ops, h.Origin = make([]ir.Op, 0, k*n), make([]ir.OpID, 0, k*n)
		h.Copies = k * max(1, g.Copies)
		again := orderedBefore(g)
		for copied := range k {
			for v := range n {
				op := g.Ops[v]
				op.After = after(op.After, again[v], copied, n)
				h.Ops, h.Origin = append(h.Ops, op), append(h.Origin, g.Traced(ir.OpID(v)))
			}
		}
		return &h, nil
	}
}

// maxUnrolled is the most operations of an unrolled program: to plan so many takes two to three
// gigabytes.
const maxUnrolled = 1 << 21

// after is the order of an operation in one of the copies of n operations: that of the trace, and
// that behind the copy before.
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

// orderedBefore lists, by operation, what of the copy before it must follow although no access
// shows it: what is ordered after it, or else itself.
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

// copies returns where the copies in an unrolled program begin, and its length. Operations
// are in the order of the trace within a copy, so a copy begins where that begins again.
func copies(g *ir.Graph) []int {
	starts := []int{0}
	for v := 1; v < len(g.Origin); v++ {
		if g.Origin[v] <= g.Origin[v-1] {
			starts = append(starts, v)
		}
	}
	return append(starts, g.Len())
}

// substituted is an operation with other buffers.
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
