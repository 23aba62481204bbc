package ptx

import (
	"fmt"
	"slices"
)

// operandRule says which rule of ptxas 11.8 an operand breaks that does not depend on the
// type of the instruction, "" when it breaks none. The letter is that of opRow.args.
func (fn *Func) operandRule(in *Inst, letter byte, op *Operand) string {
	switch op.Kind {
	case OpSpecial:
		return in.specialRule()
	case OpSymbol:
		return in.addressRule(op)
	case OpReg, OpPair:
		return in.sinkRule(letter, op)
	case OpVector:
		return vectorRule(letter, op)
	case OpMem:
		if letter == 'm' {
			return fn.memoryRule(in, op)
		}
	}
	return ""
}

// specialRule allows special registers in mov and cvt between integers.
func (in *Inst) specialRule() string {
	if in.Name != "mov" && in.Name != "cvt" {
		return "only mov and cvt read a special register; move it to a register first"
	}
	for _, s := range in.Suffix {
		if typ, ok := ParseType(s); ok && typ.Float() {
			return "a special register is an integer; move it to a register first"
		}
	}
	return ""
}

// addressRule allows the address of a variable in mov and in cvta from its space.
func (in *Inst) addressRule(op *Operand) string {
	to := slices.Contains(in.Suffix, "to")
	if in.Name != "mov" && (in.Name != "cvta" || to) {
		return "only mov and cvta take the address of a variable; move it to a register first"
	}
	if in.Name == "cvta" && op.Var != nil {
		return in.spaceRule(op.Var)
	}
	return ""
}

// sinkRule allows the sink _ as a result of those instructions that have another one.
func (in *Inst) sinkRule(letter byte, op *Operand) string {
	if op.Reg != NoReg {
		return ""
	}
	switch letter {
	case 'd', 'D', 'w', 'c':
		return unless(in.Name == "atom", fmt.Sprintf("the result of %s cannot be discarded", in.Name))
	case 'q':
		return unless(in.Name == "setp" || op.Reg2 != NoReg, fmt.Sprintf("the result of %s cannot be discarded", in.Name))
	case 'a', 'A', 'e', 'u', 'v', 'p':
		return "_ is no source"
	}
	return ""
}

// vectorRule allows the sink only among several results, and addresses nowhere.
func vectorRule(letter byte, op *Operand) string {
	sinks := 0
	for i := range op.Elems {
		e := &op.Elems[i]
		switch {
		case e.Kind == OpReg && e.Reg == NoReg:
			sinks++
		case e.Kind == OpSymbol:
			return "the address of a variable is no element of a vector; move it to a register first"
		}
	}
	switch letter {
	case 'a', 'A', 'e', 'v':
		return unless(sinks == 0, "_ is no source")
	case 'd', 'D':
		return unless(sinks < len(op.Elems), "a vector of results needs a register")
	}
	return ""
}

// memoryRule checks the base of an address.
func (fn *Func) memoryRule(in *Inst, op *Operand) string {
	switch {
	case op.Reg != NoReg:
		typ := fn.Regs[op.Reg].Type
		return unless(typ != F32 && typ != F64 && typ != Pred, fmt.Sprintf("%s is a .%s register, which holds no address", fn.Regs[op.Reg].Name, typ))
	case op.Var != nil:
		return in.spaceRule(op.Var)
	case op.Name == "":
		return unless(slices.Contains(in.Suffix, "local"), "a number is an address only in .local; move it to a register first")
	}
	return ""
}

// spaceRule compares the state space of an instruction of one address with that of a variable.
func (in *Inst) spaceRule(v *Var) string {
	space := Generic
	for _, s := range in.Suffix {
		found, ok := ParseSpace(s)
		switch {
		case ok && space != Generic && found != space:
			return "" // an address of each space
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
