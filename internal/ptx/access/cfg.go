package access

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/internal/ptx"
)

// cfg is the control flow graph of a flat program. Block 0 is the entry, and the last
// block is empty: it stands for the end of the program.
//
//	step  0  1  2 │ 3  4 │ 5  6  7 │          leaders: the entry, branch targets, and the
//	      block 0 │  1   │  block 2 │ 3       steps after a branch, return or exit
type cfg struct {
	*flat
	blocks  []block
	blockOf []int32              // by step
	defs    map[variable][]int32 // by variable: the steps that may define it, in program order
}

// block is a basic block: steps [first, end).
type block struct {
	first, end int
	succs      []int32 // the target of a branch comes first, then the next block
	preds      []int32 // without duplicates; only those that can be reached from the entry
	idom       int32   // immediate dominator; -1 for the entry and for unreachable blocks
	order      int32   // position in reverse post-order, -1 for unreachable blocks
}

// newCFG cuts a program into basic blocks, links them, and indexes the definitions of
// each variable. Everything but the dominators is linear in the steps.
func newCFG(p *flat) *cfg {
	g := &cfg{flat: p}
	g.cut()
	g.link()
	g.findDefs()
	return g
}

// targets returns the steps that step i may jump to, and whether it may continue with the
// next step. A guarded jump may do both.
func (g *cfg) targets(i int) (targets []int, next bool) {
	s := &g.steps[i]
	guarded := s.in.Guard.Reg != ptx.NoReg
	switch s.kind {
	case stepBranch, stepReturn:
		return []int{s.target}, guarded
	case stepTable:
		for n := range s.in.Args {
			if list := &s.in.Args[n]; list.Kind == ptx.OpList {
				for k := range list.Elems {
					targets = append(targets, s.frame.start[list.Elems[k].Target])
				}
			}
		}
		return targets, guarded
	case stepLeave:
		return nil, guarded
	}
	return nil, true
}

// cut forms the basic blocks. A block starts at the entry, at each target and
// after each jump. A last, empty block stands for the end of the program.
func (g *cfg) cut() {
	n := len(g.steps)
	leader := make([]bool, n+1)
	leader[0] = true
	for i := range g.steps {
		if g.steps[i].kind == stepPlain {
			continue
		}
		leader[i+1] = true
		targets, _ := g.targets(i)
		for _, t := range targets {
			leader[t] = true
		}
	}
	g.blockOf = make([]int32, n+1)
	for i := 0; i <= n; i++ {
		if leader[i] || i == n {
			g.blocks = append(g.blocks, block{first: i, end: n, idom: -1, order: -1})
			if k := len(g.blocks) - 2; k >= 0 {
				g.blocks[k].end = i
			}
		}
		g.blockOf[i] = int32(len(g.blocks) - 1)
	}
}

// link sets the edges between blocks, their reverse post-order and their dominators.
// Predecessors are recorded only from reachable blocks, so that a phi has no argument
// from code that is never executed.
func (g *cfg) link() {
	for b := range g.blocks {
		blk := &g.blocks[b]
		// The last block has no step.
		if blk.first == len(g.steps) {
			continue
		}
		targets, next := g.targets(blk.end - 1)
		for _, t := range targets {
			blk.succs = append(blk.succs, g.blockOf[t])
		}
		if next {
			blk.succs = append(blk.succs, g.blockOf[blk.end])
		}
	}
	succs := make([][]int32, len(g.blocks))
	for b := range g.blocks {
		succs[b] = g.blocks[b].succs
	}
	for n, b := range dense.ReversePostOrder(0, succs) {
		g.blocks[b].order = int32(n)
	}
	for b, d := range dense.Dominators(0, succs) {
		g.blocks[b].idom = d
	}
	for b := range g.blocks {
		if g.blocks[b].order < 0 {
			continue
		}
		for _, s := range g.blocks[b].succs {
			// Both edges of a branch may lead to one block, which then has one predecessor.
			if to := &g.blocks[s]; !slices.Contains(to.preds, int32(b)) {
				to.preds = append(to.preds, int32(b))
			}
		}
	}
}

// dominates reports whether every path from the entry to b passes through a. It
// climbs the dominator tree until the order of b is no greater than that of a:
// a dominator always precedes in reverse post-order.
func (g *cfg) dominates(a, b int32) bool {
	for b >= 0 && g.blocks[b].order > g.blocks[a].order {
		b = g.blocks[b].idom
	}
	return a == b
}

// back reports whether the edge from p to h is a back edge, which closes a
// natural loop with header h.
func (g *cfg) back(p, h int32) bool { return g.dominates(h, p) }

// findDefs lists, by variable, the steps that may define it, in program order.
func (g *cfg) findDefs() {
	g.defs = map[variable][]int32{}
	for i := range g.steps {
		g.eachDef(&g.steps[i], func(v variable) {
			if list := g.defs[v]; len(list) == 0 || list[len(list)-1] != int32(i) {
				g.defs[v] = append(list, int32(i))
			}
		})
	}
}

// eachDef calls f with the variables that a step may define. Every instruction except
// stores and reductions is taken to define its first operand. A definition that does not
// exist in fact is safe: the value becomes unknown, which only loses precision.
func (g *cfg) eachDef(s *step, f func(variable)) {
	in := s.in
	if len(in.Args) == 0 || s.kind != stepPlain {
		return
	}
	if in.Name == "st" {
		for _, c := range g.cellsOf(s.frame, in) {
			f(g.cells[c])
		}
		return
	}
	if in.Name == "red" {
		return
	}
	g.eachReg(s.frame, &in.Args[0], f)
	if in.Name == "call" { // not inlined: its results are unknown values
		for _, op := range splitCall(in).results {
			if op.Kind == ptx.OpSymbol && op.Var != nil {
				for _, c := range g.shape[g.paramVar(s.frame, op.Var)] {
					f(g.cells[c])
				}
			}
		}
	}
}

// eachReg calls f with the registers of a destination operand.
func (g *cfg) eachReg(fr *frame, op *ptx.Operand, f func(variable)) {
	for _, r := range [...]ptx.RegID{op.Reg, op.Reg2} {
		if (op.Kind == ptx.OpReg || op.Kind == ptx.OpPair || op.Kind == ptx.OpVector) && r != ptx.NoReg {
			f(fr.base + variable(r))
		}
	}
	for n := range op.Elems {
		g.eachReg(fr, &op.Elems[n], f)
	}
}

// lastDef returns the last step in [from, to) that may define v, or -1, by binary search.
func (g *cfg) lastDef(v variable, from, to int) int {
	list := g.defs[v]
	n, _ := slices.BinarySearch(list, int32(to))
	if n > 0 && int(list[n-1]) >= from {
		return int(list[n-1])
	}
	return -1
}
