package ptx

// postdominators finds, by block, the next block through which every way to the end of the kernel leads: -1 where that is the
// end itself, or where none leads there.
func (g *cfg) postdominators() []int32 {
	exit := int32(len(g.blocks))
	p := postdominators{next: make([]int32, exit+1), order: make([]int, exit+1), succs: make([][]int32, exit+1)}
	preds := make([][]int32, exit+1)
	for b := range exit {
		if p.succs[b] = g.exits(b); g.blocks[b].order < 0 {
			continue
		}
		for _, s := range p.succs[b] {
			preds[s] = append(preds[s], b)
		}
	}
	for b := range p.next {
		p.next[b], p.order[b] = -1, -1
	}
	p.next[exit] = exit
	p.solve(p.postOrder(exit, preds))
	for b, d := range p.next {
		if d == exit {
			p.next[b] = -1
		}
	}
	return p.next[:exit]
}

// exits are the successors of a block, with one for the end of the kernel.
func (g *cfg) exits(b int32) []int32 {
	blk := &g.blocks[b]
	if blk.first == len(g.steps) || g.steps[blk.end-1].kind == stepLeave {
		return append([]int32{int32(len(g.blocks))}, blk.succs...)
	}
	return blk.succs
}

// postdominators is the algorithm of Cooper, Harvey & Kennedy (2001) on the reversed graph.
type postdominators struct {
	next  []int32
	order []int // in the reverse post-order of the reversed graph, -1 for what does not lead to the end
	succs [][]int32
}

// postOrder lists the blocks that lead to the end, in post-order of the reversed graph.
func (p *postdominators) postOrder(exit int32, preds [][]int32) (list []int32) {
	type visit struct {
		b    int32
		next int
	}
	seen := make([]bool, len(preds))
	seen[exit] = true
	for stack := []visit{{exit, 0}}; len(stack) > 0; {
		top := &stack[len(stack)-1]
		if top.next == len(preds[top.b]) {
			list = append(list, top.b)
			stack = stack[:len(stack)-1]
			continue
		}
		b := preds[top.b][top.next]
		top.next++
		if !seen[b] {
			seen[b] = true
			stack = append(stack, visit{b, 0})
		}
	}
	return list
}

func (p *postdominators) solve(list []int32) {
	for n, b := range list {
		p.order[b] = len(list) - 1 - n
	}
	for changed := true; changed; {
		changed = false
		for n := len(list) - 2; n >= 0; n-- { // the last is the end
			if b := list[n]; p.join(b) != p.next[b] {
				p.next[b], changed = p.join(b), true
			}
		}
	}
}

// join is the nearest block that all successors of b lead to, as far as it is known.
func (p *postdominators) join(b int32) int32 {
	d := int32(-1)
	for _, s := range p.succs[b] {
		switch {
		case p.next[s] < 0: // not known yet, or it leads nowhere
		case d < 0:
			d = s
		default:
			d = p.common(d, s)
		}
	}
	return d
}

func (p *postdominators) common(a, b int32) int32 {
	for a != b {
		for p.order[a] > p.order[b] {
			a = p.next[a]
		}
		for p.order[b] > p.order[a] {
			b = p.next[b]
		}
	}
	return a
}
