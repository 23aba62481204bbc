package access

import "github.com/reprise-gpu/reprise/internal/dense"

// postdominators finds, by block, the next block through which every way to the end of the kernel leads: -1 where that is the
// end itself, or where none leads there.
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

// exits are the successors of a block, with one for the end of the kernel.
func (g *cfg) exits(b int32) []int32 {
	blk := &g.blocks[b]
	if blk.first == len(g.steps) || g.steps[blk.end-1].kind == stepLeave {
		return append([]int32{int32(len(g.blocks))}, blk.succs...)
	}
	return blk.succs
}
