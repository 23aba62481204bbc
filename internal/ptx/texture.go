package ptx

import (
	"fmt"
	"slices"
)

// coordinates is the length of the coordinate vector of a texture or surface access, by its
// geometry. Vectors have 1, 2 or 4 elements, so three coordinates are padded to four. An array
// index is the first element:
//
//	1d {x}   2d {x, y}   3d {x, y, z, -}   a1d {i, x}   a2d {i, x, y, -}   cube {x, y, z, -}
var coordinates = map[string]int{
	"1d": 1, "a1d": 2, "2d": 2, "a2d": 4, "3d": 4, "cube": 4, "acube": 4, "2dms": 4, "a2dms": 4,
}

// textureFault checks "[handle, {x, y}]" and "[handle, sampler, {x, y}]". It returns a
// description of the operand that the instruction requires, or "".
func (f *form) textureFault(fn *Func, op *Operand) string {
	if op.Kind != OpMem || len(op.Elems) == 0 || len(op.Elems) > 2 {
		return "a handle and coordinates in brackets"
	}
	if op.Var != nil && op.Var.Handle == "" && op.Var.Space != ParamSpace || op.Imm != 0 {
		return "a .texref or .surfref variable, or a register that holds a handle"
	}
	if op.Reg != NoReg && fn.Regs[op.Reg].Type.Size() != 8 {
		return "a register of 64 bits that holds a handle"
	}
	required := 0
	for geometry, n := range coordinates {
		if hasPart(f.word, geometry) {
			required = n
		}
	}
	at := &op.Elems[len(op.Elems)-1]
	have := 1
	if at.Kind == OpVector {
		have = len(at.Elems)
		if slices.ContainsFunc(at.Elems, func(e Operand) bool { return e.Kind == OpReg && e.Reg == NoReg }) {
			return "an address whose coordinates are registers or constants"
		}
	}
	// Vectors of 2 and 4 are allowed for any geometry, and their extra elements are ignored (PTX ISA, tex, notes).
	ok := have == required || have == 4 || have == 2 && required == 1 || have == 3 && required == 4
	return unless(ok, fmt.Sprintf("an address with %d coordinates", required))
}

// hasPart reports whether a word has part between its dots.
func hasPart(word, part string) bool {
	for at := 0; at+len(part) <= len(word); at++ {
		end := at + len(part)
		if word[at:end] == part && at > 0 && word[at-1] == '.' && (end == len(word) || word[end] == '.') {
			return true
		}
	}
	return false
}
