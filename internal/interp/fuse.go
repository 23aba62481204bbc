package interp

import "github.com/reprise-gpu/reprise/internal/unit"

// fuse makes each product free whose only use is a sum: the assembler makes a fused
// multiply-add of the two. The values stay those of two instructions, and only the cost
// changes.
func (l *lowering) fuse() {
	uses, definitions := make([]int32, len(l.vregs)), make([]int32, len(l.vregs))
	made := make([]int32, len(l.vregs)) // the product that defines a register, plus one
	for i := range l.items {
		it := &l.items[i]
		it.visit(func(s *slot) { uses[*s]++ }, func(s *slot) { definitions[*s]++ })
		if it.cost.fuses == product && it.guard == noSlot {
			made[it.d] = int32(i) + 1
		}
	}
	single := func(s slot) int32 {
		if s == noSlot || made[s] == 0 || uses[s] != 1 || definitions[s] != 1 {
			return 0
		}
		return made[s]
	}
	for i := range l.items {
		it := &l.items[i]
		if it.cost.fuses != sum {
			continue
		}
		for _, s := range []slot{it.a, it.b} {
			if i := single(s); i > 0 {
				c := &l.items[i-1].cost
				c.work, c.latency = unit.Work{}, 0
				break
			}
		}
	}
}
