package access

import "github.com/reprise-gpu/reprise/internal/dense"

// postdominators returns, by block, its immediate postdominator: the next block on every
// path to the end of the kernel. It is -1 if that is the end itself, or if no path leads
// there. Postdominators are the dominators of the reversed graph, in which a virtual exit
// is the entry. The exit is block len(g.blocks).
func (g *cfg) postdominators() []int32 {
	exit := int32(len(g.blocks))
	succs := make([][]int32, exit+1)
	for b := range exit {
		if g.blocks[b].order >= 0 {
			succs[b] = g.exits(b)
		}
	}
	next := dense.Dominators(exit, dense.Reversed(succs))
	for b, d := range next {
		if d == exit {
			next[b] = -1
		}
	}
	return next[:exit]
}

// exits returns the successors of a block, and the virtual exit if a thread may
// end there.
func (g *cfg) exits(b int32) []int32 {
	blk := &g.blocks[b]
	if blk.first == len(g.steps) || g.steps[blk.end-1].kind == stepLeave {
		return append([]int32{int32(len(g.blocks))}, blk.succs...)
	}
	return blk.succs
}
