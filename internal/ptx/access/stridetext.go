package access

import (
	"fmt"
	"slices"
)

// strideText collects the strides of an address, as expressions. Some are constants, others
// are products with a parameter:
//
//	4·(row·pitch + column)     4·pitch, and 4 for the columns
type strideText struct {
	*rangeText
	spacer *spacer
	found  []string
	size   int64 // of the access: a stride of at most that leaves no gaps
	work   int
}

// strides returns the strides of the address of an access in bytes, the order of its
// summands. It returns none if one is not known.
func (t *rangeText) strides(o spanOut) []string {
	t.spacing.grow(t.nodes)
	s := strideText{rangeText: t, spacer: &t.spacing, size: o.hi - o.lo}
	if !s.add(o.addr, 1) {
		return nil
	}
	return s.found
}

// add adds the strides of coef times a node. It reports whether they are known.
func (s *strideText) add(id nodeID, coef int64) bool {
	if s.work++; s.work > maxTextWork {
		return false
	}
	n := &s.nodes[id]
	switch spacing := s.spacer.of[id]; {
	case spacing == 0:
		return true
	case spacing > 0:
		s.constant(coef * int64(spacing))
		return true
	}
	switch n.op {
	case nodeAdd, nodeSub:
		return s.add(n.args[0], coef) && s.add(n.args[1], coef)
	case nodeExtend, nodeClamp, nodeMeet:
		return s.add(n.args[0], coef)
	case nodeWhen:
		return s.add(n.args[1], coef)
	case nodeInduct:
		return s.add(n.args[0], coef) && s.product(n.args[1], coef)
	case nodeMul:
		for k, a := range n.args[:2] {
			if c := &s.nodes[a]; c.op == nodeConst {
				return s.add(n.args[1-k], coef*c.imm)
			}
		}
		for k, a := range n.args[:2] {
			if s.spacer.of[a] == 0 { // of multiples of the other argument
				return s.product(a, coef*int64(max(s.spacer.of[n.args[1-k]], 1)))
			}
		}
	}
	return false
}

// product adds the stride of coef times a node that is one number in each launch.
func (s *strideText) product(id nodeID, coef int64) bool {
	if s.spacer.of[id] != 0 {
		return false
	}
	for {
		n := &s.nodes[id]
		switch {
		case n.op == nodeConst:
			s.constant(coef * n.imm)
			return true
		case n.op == nodeMul && s.nodes[n.args[1]].op == nodeConst:
			id, coef = n.args[0], coef*s.nodes[n.args[1]].imm
		case n.op == nodeMul && s.nodes[n.args[0]].op == nodeConst:
			id, coef = n.args[1], coef*s.nodes[n.args[0]].imm
		case n.op == nodeExtend:
			id = n.args[0]
		default:
			s.append(fmt.Sprintf("%d*%s", max(coef, -coef), s.factor(id)))
			return true
		}
	}
}

// constant adds a constant stride, unless the access fills it.
func (s *strideText) constant(step int64) {
	if step = max(step, -step); step > s.size {
		s.append(fmt.Sprint(step))
	}
}

func (s *strideText) append(text string) {
	if !slices.Contains(s.found, text) {
		s.found = append(s.found, text)
	}
}
