package interp

import (
	"strings"

	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/unit"
)

// uniforms finds the instructions that are made once for a warp, because the code shows that all lanes have the same
// operands: atomic operations whose result is unused, and loads of constants.
func (l *lowering) uniforms() {
	var varies []bool // most kernels have none of these instructions
	for i := range l.items {
		it := &l.items[i]
		if it.x == nil || !it.x.memory || it.x.kind != updates && !it.x.constant {
			continue
		}
		if varies == nil {
			varies = l.varying()
		}
		switch {
		case it.x.kind == updates:
			it.x.once = it.aggregates(varies)
		case !varies[it.a]:
			it.cost = costUniform
		}
	}
}

// varying returns which registers differ between the lanes of a warp by the operands of
// their definitions: a register is uniform if all its definitions compute it from uniform
// registers. %tid differs, whatever the shape of the block. Branches are not considered: a
// register that both sides of a divergent branch define counts as uniform. Only costs depend
// on the result.
//
//	differs(%tid.*, %laneid, %lanemask_*)
//	differs(d)  if an instruction defines d from a register that differs,
//	            by a shuffle, or by an atomic operation
//
// The set grows until nothing changes: O(items · depth of the longest chain).
func (l *lowering) varying() []bool {
	varies := make([]bool, len(l.vregs))
	for i := range l.vregs {
		v := &l.vregs[i]
		varies[i] = v.home == framePointer || v.home == specialValue && v.special >= tidX && v.special <= lanemaskGt
	}
	for changed := true; changed; {
		changed = false
		for i := range l.items {
			it := &l.items[i]
			differs := it.cost.work[unit.Shuffle] > 0 || it.x != nil && it.x.memory && it.x.kind == updates
			it.visit(func(s *slot) { differs = differs || varies[*s] }, func(*slot) {})
			if !differs {
				continue
			}
			it.visit(func(*slot) {}, func(s *slot) {
				changed = changed || !varies[*s]
				varies[*s] = true
			})
		}
	}
	return varies
}

// aggregates reports whether the assembler replaces an atomic operation whose result is unused by one
// of a single lane for its warp: an integer operation of all lanes on one word, with one operand.
func (it *item) aggregates(varies []bool) bool {
	x := it.x
	if x.read || it.a == noSlot || it.b == noSlot {
		return false
	}
	global := x.space == ptx.Global || x.space == ptx.Generic
	name, typ, _ := strings.Cut(x.atomic, ".")
	integer := typ != "" && (typ[0] == 'u' || typ[0] == 's' || typ[0] == 'b')
	return global && integer && name != "exch" && name != "cas" && name != "inc" && name != "dec" && !varies[it.a] && !varies[it.b]
}
