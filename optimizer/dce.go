package optimizer

import "github.com/reprise-gpu/reprise/ir"

// dce removes operations without effect: every byte they write is overwritten before it is
// read, or belongs to a temporary and is not read again.
//
//	memset @t ─► copy @x to @t ─► read @t  ==>  copy @x to @t ─► read @t
//
// It is a backward liveness analysis over byte ranges. At the end of the trace, the contents
// of all buffers that outlive a replay are live. A copy and a fill write every byte of their
// range and end its liveness. A kernel may leave bytes unwritten, so that its writes end
// none. Host calls, prefetches and empty operations stay. A launch that writes nothing stays
// too: it must have another effect. A launch whose writes are all dead is removed, even if it
// also prints.
func dce(g *ir.Graph) (*ir.Graph, error) {
	if g.Phase >= ir.Analyzed {
		return g, nil
	}
	live := liveAtEnd(g)
	drop := make([]bool, g.Len())
	var scratch [2]ir.Access
	for v := g.Len() - 1; v >= 0; v-- {
		op := &g.Ops[v]
		accesses := op.Accesses(&scratch)
		if drop[v] = futile(op, accesses, live); drop[v] || op.Kind == ir.KindPrefetch {
			continue
		}
		for _, a := range accesses {
			if op.Kind == ir.KindCopy && a.Mode == ir.Write || op.Kind == ir.KindMemset {
				live[a.Buffer].remove(span{a.Lo, a.Hi})
			}
		}
		for _, a := range accesses {
			if a.Mode.Reads() {
				live[a.Buffer].remove(span{a.Lo, a.Hi})
				live[a.Buffer].insert(span{a.Lo, a.Hi})
			}
		}
	}
	return withoutOps(g, drop), nil
}

// liveAtEnd returns, by buffer, the bytes that may be read after a replay. A temporary is live if the
// next replay reads it before it writes it, contrary to its declaration.
func liveAtEnd(g *ir.Graph) []spans {
	live := make([]spans, len(g.Buffers))
	readFirst := readFirst(g)
	for b := range live {
		if g.Buffers[b].Role != ir.Temporary || readFirst[b] {
			live[b].insert(span{0, g.Buffers[b].Size()})
		}
	}
	return live
}

// futile reports whether the only effect of an operation is to write bytes that are not live.
func futile(op *ir.Op, accesses []ir.Access, live []spans) bool {
	writes := false
	for _, a := range accesses {
		if a.Mode.Writes() && !a.Empty() {
			if writes = true; live[a.Buffer].overlaps(span{a.Lo, a.Hi}) {
				return false
			}
		}
	}
	switch op.Kind {
	case ir.KindCopy, ir.KindMemset:
		return true
	case ir.KindLaunch:
		return writes
	}
	return false
}
