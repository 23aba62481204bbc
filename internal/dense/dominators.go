package dense

import "slices"

// ReversePostOrder returns the nodes that root reaches, itself first, in the reverse post-order of a
// depth-first search that tries successors in their order. succs has the successors of each node.
// The graph may have cycles.
func ReversePostOrder(root int32, succs [][]int32) []int32 {
	type visit struct {
		v    int32
		next int
	}
	var order []int32
	seen := make([]bool, len(succs))
	seen[root] = true
	for stack := []visit{{root, 0}}; len(stack) > 0; {
		top := &stack[len(stack)-1]
		if top.next == len(succs[top.v]) {
			order = append(order, top.v)
			stack = stack[:len(stack)-1]
			continue
		}
		w := succs[top.v][top.next]
		top.next++
		if !seen[w] {
			seen[w] = true
			stack = append(stack, visit{w, 0})
		}
	}
	slices.Reverse(order)
	return order
}

// Reversed returns the predecessors of each node from its successors.
func Reversed(succs [][]int32) [][]int32 {
	preds := make([][]int32, len(succs))
	for u, list := range succs {
		for _, v := range list {
			preds[v] = append(preds[v], int32(u))
		}
	}
	return preds
}

// Dominators returns the immediate dominator of each node: the last other node through which every
// path from root leads to it, -1 for root and for nodes that root does not reach. On the reversed
// graph, with the exit as root, these are post-dominators.
//
// It is the algorithm of K. D. Cooper, T. J. Harvey and K. Kennedy, "A Simple, Fast Dominance
// Algorithm" (2001): each node's dominator is the closest common one of its predecessors, in rounds
// over the reverse post-order until nothing changes. A reducible graph takes two rounds; the worst
// case is O(V²).
func Dominators(root int32, succs [][]int32) (idom []int32) {
	order := ReversePostOrder(root, succs)
	d := dominators{idom: slices.Repeat([]int32{-1}, len(succs)), place: slices.Repeat([]int32{-1}, len(succs))}
	preds := make([][]int32, len(succs)) // those that root reaches
	for i, u := range order {
		d.place[u] = int32(i)
		for _, v := range succs[u] {
			preds[v] = append(preds[v], u)
		}
	}
	d.idom[root] = root
	for changed := true; changed; {
		changed = false
		for _, v := range order[1:] {
			if u := d.meet(preds[v]); u != d.idom[v] {
				d.idom[v], changed = u, true
			}
		}
	}
	d.idom[root] = -1
	return d.idom
}

// dominators is the state of the rounds.
type dominators struct {
	idom  []int32 // -1 until it has been computed
	place []int32 // in the reverse post-order
}

// meet returns the closest common dominator of the nodes whose dominator is known.
func (d *dominators) meet(nodes []int32) int32 {
	common := int32(-1)
	for _, u := range nodes {
		switch {
		case d.idom[u] < 0:
		case common < 0:
			common = u
		default:
			common = d.common(common, u)
		}
	}
	return common
}

// common returns the closest dominator of both nodes.
func (d *dominators) common(u, v int32) int32 {
	for u != v {
		for d.place[u] > d.place[v] {
			u = d.idom[u]
		}
		for d.place[v] > d.place[u] {
			v = d.idom[v]
		}
	}
	return u
}
