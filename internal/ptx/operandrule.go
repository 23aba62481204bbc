package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// operandRule checks an operand by those rules of ptxas 11.8 that do not depend on the
// instruction's type. It returns the rule that the operand breaks, or "". The letter is that of
// opRow.args.
//
//	operand              accepted                                          rule
//	%tid.x               mov, cvt between integers                         specialRule
//	variable             mov, cvta, mapa, getctarank                       addressRule
//	_                    results of atom, match and setp; never a source   resultRule
//	d|p                  setp, shfl, lop3, elect, match.all                resultRule
//	{a, _}               a result with at least one register               vectorRule
//	[base+n]             base is an integer register, or a variable of     memoryRule
//	                     the instruction's state space
func (fn *Func) operandRule(m *Module, in *Inst, letter byte, arg int) string {
	op := &in.Args[arg]
	switch op.Kind {
	case OpSpecial:
		return in.specialRule(op, m)
	case OpSymbol:
		return in.addressRule(op)
	case OpReg, OpPair:
		return in.resultRule(letter, op)
	case OpVector:
		return vectorRule(letter, arg, op)
	case OpMem:
		if letter == 'm' {
			return fn.memoryRule(in, op)
		}
	}
	return ""
}

// specialRule accepts special registers in mov, and in cvt between integers, at their width. A
// mov may read 16 bits of some, see narrowSpecial, and a cvt may read fewer bits than the
// register has.
func (in *Inst) specialRule(op *Operand, m *Module) string {
	name, _, _ := strings.Cut(op.Name, ".")
	if fault := featureFault(op.Name, opcode{name: name}, m); fault != "" {
		return fault
	}
	if in.Name != "mov" && in.Name != "cvt" {
		return "only mov and cvt read a special register; move it to a register first"
	}
	last, typ := NoType, specialType(op.Name)
	for _, s := range in.Suffix {
		if t, ok := ParseType(s); ok {
			last = t
		}
		if last.Float() {
			return "a special register is an integer; move it to a register first"
		}
	}
	narrower := last.Size() < typ.Size() && (in.Name == "cvt" || last.Size() > 1 && narrowSpecial(op.Name))
	if (last == Pred) != (typ == Pred) || last.Size() != typ.Size() && !narrower {
		return fmt.Sprintf("%s is a .%s register, and the instruction reads .%s", op.Name, typ, last)
	}
	return ""
}

// addressRule accepts the address of a variable in mov, in cvta from its space,
// and that of a .shared variable in the instructions that map it to other
// blocks of a cluster.
func (in *Inst) addressRule(op *Operand) string {
	to := slices.Contains(in.Suffix, "to")
	switch {
	case in.Name == "mov" || in.Name == "cvta" && !to && op.Var == nil:
		return ""
	case in.Name == "cvta" && !to:
		return in.spaceRule(op.Var)
	case (in.Name == "mapa" || in.Name == "getctarank") && op.Var != nil && op.Var.Space == Shared:
		return ""
	}
	return "only mov and cvta take the address of a variable; move it to a register first"
}

// resultRule accepts the sink "_" and the form d|p as results of the
// instructions that define them.
func (in *Inst) resultRule(letter byte, op *Operand) string {
	if op.Kind == OpPair && !in.pairs() {
		return in.Name + " has one result, not two"
	}
	if op.Reg != NoReg {
		return ""
	}
	switch letter {
	case 'd', 'D', 'w', 'c':
		return unless(in.Name == "atom" || in.Name == "match" && in.pairs(), fmt.Sprintf("the result of %s cannot be discarded", in.Name))
	case 'q':
		return unless(in.Name == "setp", fmt.Sprintf("the result of %s cannot be discarded", in.Name))
	case 'a', 'A', 'e', 'u', 'v', 'p':
		return "_ cannot be a source"
	}
	return ""
}

// pairs reports whether the instruction has a second result, after '|'.
func (in *Inst) pairs() bool {
	switch in.Name {
	case "setp", "shfl", "lop3", "elect":
		return true
	case "match":
		return slices.Contains(in.Suffix, "all")
	}
	return false
}

// vectorRule accepts the sink only among several results, and addresses never.
func vectorRule(letter byte, arg int, op *Operand) string {
	sinks := 0
	for i := range op.Elems {
		e := &op.Elems[i]
		switch {
		case e.Kind == OpReg && e.Reg == NoReg:
			sinks++
		case e.Kind == OpSymbol:
			return "a vector cannot contain the address of a variable; move it to a register first"
		}
	}
	switch letter {
	case 'V':
		return unless(arg == 0 || sinks == 0, "_ cannot be a source")
	case 'a', 'A', 'e', 'v':
		return unless(sinks == 0, "_ cannot be a source")
	case 'd', 'D':
		return unless(sinks < len(op.Elems), "at least one element of a vector of results must be a register")
	}
	return ""
}

// memoryRule checks the base of an address.
func (fn *Func) memoryRule(in *Inst, op *Operand) string {
	switch {
	case op.Reg != NoReg:
		typ := fn.Regs[op.Reg].Type
		return unless(!typ.Float() && typ != Pred, fmt.Sprintf("%s is a .%s register, which cannot contain an address", fn.Regs[op.Reg].Name, typ))
	case op.Var != nil:
		return in.spaceRule(op.Var)
	case op.Name == "":
		return unless(slices.Contains(in.Suffix, "local"), "a number is an address only in .local; move it to a register first")
	}
	return ""
}

// spaceRule compares the state space of an instruction with that of a variable. A generic
// access may name a variable of .global, .shared or .local: ptxas converts the address.
func (in *Inst) spaceRule(v *Var) string {
	space := Generic
	for _, s := range in.Suffix {
		found, ok := ParseSpace(s)
		switch {
		case ok && space != Generic && found != space:
			return "" // an instruction such as cp.async, with an address in each of two spaces
		case ok:
			space = found
		}
	}
	switch in.Name {
	case "ld", "st", "ldu", "atom", "red", "prefetch", "cvta":
	default:
		return ""
	}
	if space == Generic && v.Space != Const && v.Space != ParamSpace || v.Space == space {
		return ""
	}
	return fmt.Sprintf("%s is in .%s and the instruction is for .%s", v.Name, v.Space, space)
}
