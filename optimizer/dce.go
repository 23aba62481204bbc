package optimizer

import "github.com/reprise-gpu/reprise/ir"

// dce leaves out operations that nothing comes of: all that they write is overwritten
// before anybody reads it, or belongs to temporaries and is not read again.
//
//	memset @t ─► copy @x to @t ─► read @t  ==>  copy @x to @t ─► read @t
//
// It walks the trace from its end with the bytes that somebody will read. At the end these
// are the contents of all buffers that outlive a replay. A copy and a fill write every byte
// of their range; a kernel may leave some as they were, so what it overwrites is read as far
// as anyone knows. Host calls, prefetches and empty operations stay, and so does a launch that
// writes nothing, for it was launched for something else. One that prints as well as it
// writes what nobody reads goes.
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
	return g.Without(drop), nil
}

// liveAtEnd is, by buffer, what somebody may read after a replay. What a temporary holds
// counts if the next replay reads it before it writes it, against what was declared.
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

// futile reports whether all that an operation does is write bytes that are not live.
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
