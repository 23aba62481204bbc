package access

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Update is an operation by which a kernel updates elements in memory without using their old values: each becomes
// element Op operand. Updates of one Op and Type commute, apart from the rounding of floating-point sums.
type Update struct {
	Op   string   // add, min, max, and, or, xor
	Type ptx.Type // of an element
}

// updateOps are the operations of updates.
var updateOps = []string{"add", "min", "max", "and", "or", "xor"}

// commutes reports whether the instruction is an atomic that commutes with
// others of its kind, apart from rounding.
func commutes(i *ptx.Inst) bool {
	return (i.Name == "atom" || i.Name == "red") && slices.ContainsFunc(i.Suffix, func(s string) bool { return slices.Contains(updateOps, s) })
}

// updateOf returns the update that an instruction makes, or nil if it is no atomic, does not commute, updates several
// elements, or its result is used.
func updateOf(m *ptx.Module, i *ptx.Inst) *Update {
	at := slices.IndexFunc(i.Suffix, func(s string) bool { return slices.Contains(updateOps, s) })
	typ := memType(i)
	if !commutes(i) || typ == ptx.NoType || elems(i) != 1 || i.Name == "atom" && !unused(m, i) {
		return nil
	}
	return &Update{i.Suffix[at], typ}
}

// unused reports whether the result of an atomic is not used: its register occurs in no other operand of the function.
func unused(m *ptx.Module, in *ptx.Inst) bool {
	dst := &in.Args[0]
	if dst.Kind != ptx.OpReg {
		return false
	}
	if dst.Reg == ptx.NoReg {
		return true
	}
	for _, f := range m.Funcs {
		if !contains(f, in) {
			continue
		}
		for k := range f.Body {
			other := &f.Body[k]
			if other.Guard.Reg == dst.Reg && other.Guard.Reg != ptx.NoReg || mentions(other.Args, dst) {
				return false
			}
		}
		return true
	}
	return false
}

// contains reports whether in is an instruction of f.
func contains(f *ptx.Func, in *ptx.Inst) bool {
	for k := range f.Body {
		if &f.Body[k] == in {
			return true
		}
	}
	return false
}

// mentions reports whether operands other than dst itself contain its register.
func mentions(list []ptx.Operand, dst *ptx.Operand) bool {
	for k := range list {
		op := &list[k]
		if op != dst && (op.Reg == dst.Reg || op.Reg2 == dst.Reg) && op.Kind != ptx.OpInt || mentions(op.Elems, dst) {
			return true
		}
	}
	return false
}
