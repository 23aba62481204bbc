package ptx

import (
	"fmt"
	"strings"
)

// form describes one opcode word, suffixes included, for the checks of its operands. It is
// computed once for each distinct word of a module, see parser.opcode.
type form struct {
	word        string
	row         *opRow // nil if the word, or a part of it, is not in the table
	first, last Type   // the first and the last type suffix, NoType without one
	wide        bool   // .wide: the result has twice the width
	vector      int    // 2, 4 or 8, of a vector load or store
	packs       bool   // {a, b} may be the parts of one value
	moves       bool   // {a} may be the value of a load or store
	fault       string // what is wrong with the word itself; every instruction with it is reported
}

// newForm looks up an opcode in the three tables and checks its types. The first fault is kept.
// The checks go from the general to the particular:
//
//	missingFault     the opcode and its modifiers exist           opRows
//	typeFault        the opcode is defined for the types          opRows
//	formFault        the modifiers exist together, for the type   formRows
//	featureFault     .target and .version have it                 featureRows
//	withdrawnFault   .target and .version still have it
func newForm(word string, code opcode, m *Module) *form {
	f := &form{word: word, row: findRow(code.name, code.suffix), packs: code.name == "mov", moves: loadsOrStores(code.name)}
	for _, s := range code.suffix {
		if typ, ok := ParseType(s); ok {
			if f.first == NoType {
				f.first = typ
			}
			f.last = typ
		}
		switch s {
		case "wide":
			f.wide = true
		case "v2", "v4", "v8":
			f.vector = int(s[1] - '0')
		}
	}
	f.fault = missingFault(word, code, f.row, m)
	if f.row == nil {
		return f
	}
	// The word is newer than the table, or missingFault has reported it: its operands cannot be
	// checked.
	if f.row.unknown(code.suffix) != "" {
		f.row = nil
	}
	if f.fault == "" && f.row != nil && f.row.types != "" && f.row.types != "*" {
		f.fault = f.typeFault(code.name)
	}
	if f.fault == "" {
		f.fault = formFault(word, code)
	}
	if f.fault == "" {
		f.fault = featureFault(word, code, m)
	}
	if f.fault == "" {
		f.fault = withdrawnFault(word, code, m)
	}
	return f
}

// loadsOrStores reports whether an opcode moves data between registers and memory.
func loadsOrStores(name string) bool {
	switch name {
	case "ld", "ldu", "st", "suld", "sust":
		return true
	}
	return false
}

// typeFault describes what is wrong with the type suffixes, or returns "". cvt and set have two
// types, which formRows checks as a pair.
func (f *form) typeFault(name string) string {
	if f.last == NoType {
		return fmt.Sprintf("%s lacks a type such as .%s", f.word, exampleType(f.row.types))
	}
	// Opcodes with more types, such as mma, have "*" for their types.
	for _, typ := range []Type{f.first, f.last} {
		if !strings.ContainsRune(f.row.types, rune(typ.family())) && !(name == "cvt" || name == "set") {
			return fmt.Sprintf("%s does not exist: %s has no .%s form", f.word, name, typ)
		}
	}
	return ""
}

// exampleType returns a type of one of the given families, for messages.
func exampleType(families string) Type {
	switch families[len(families)-1] {
	case 'b':
		return B32
	case 'i':
		return U32
	default:
		return F32
	}
}

// check compares an instruction with its row of the table: the number of operands, and each
// operand with its letter. It reports a fault of the word, or those of the operands. Letters
// after '[' are optional, so "daa[p" takes 3 or 4 operands.
func (b *body) check(in *Inst, f *form) {
	switch {
	case f.fault != "":
		b.p.report(in.Pos, "%s", f.fault)
		return
	// The simulator refuses the instruction when it is launched.
	case f.row == nil:
		return
	}
	if in.Name == "call" {
		b.checkCall(in)
		return
	}
	// "daa[p" has the letters d, a, a, p, of which the first three are required.
	letters := strings.Replace(f.row.args, "[", "", 1)
	minArgs := strings.IndexByte(f.row.args, '[')
	if minArgs < 0 {
		minArgs = len(letters)
	}
	if n := len(in.Args); n < minArgs || n > len(letters) {
		b.p.report(in.Pos, "%s takes %s, not %d", f.word, countText(minArgs, len(letters)), n)
		return
	}
	if f.packs && f.vector == 0 && in.Args[0].Kind == OpVector && in.Args[1].Kind == OpVector {
		b.p.report(in.Pos, "%s packs or unpacks one vector; to copy one write .v2 or .v4", f.word)
		return
	}
	for n := range in.Args {
		// A rule comes before the type: its message names the cause, such as a special register
		// in an add.
		if fault := b.f.operandRule(b.p.m, in, letters[n], n); fault != "" {
			b.p.report(in.Args[n].Pos, "operand %d of %s: %s", n+1, f.word, fault)
			return
		}
		required := ""
		if letters[n] == 'V' {
			required = b.fragmentFault(in, n)
		} else {
			required = f.operandFault(b.f, letters[n], &in.Args[n])
		}
		if required != "" {
			b.p.report(in.Args[n].Pos, "operand %d of %s must be %s, not %s", n+1, f.word, required, b.f.describe(&in.Args[n]))
		}
	}
}

// countText describes a number of operands between lo and hi, for messages.
func countText(lo, hi int) string {
	switch {
	case lo == 1 && hi == 1:
		return "1 operand"
	case lo == hi:
		return fmt.Sprintf("%d operands", hi)
	}
	return fmt.Sprintf("%d to %d operands", lo, hi)
}

// operandFault returns a description of the operand that its letter in opRow.args requires, or
// "" if op is correct.
func (f *form) operandFault(fn *Func, letter byte, op *Operand) string {
	switch letter {
	case 'm':
		if op.Kind == OpMem && len(op.Elems) > 0 {
			return "an address without coordinates"
		}
		return unless(op.Kind == OpMem, "an address in brackets")
	case 'g':
		return f.addressFault(fn, op)
	case 't':
		return f.textureFault(fn, op)
	case 'l':
		return unless(op.Kind == OpLabel, "a label")
	// A literal is a constant predicate.
	case 'p':
		return unless(isPredicate(fn, op) || op.Kind == OpInt, "a predicate register")
	case 'q':
		return unless(isPredicate(fn, op), "a predicate register")
	case 'c':
		return f.destination(fn, op, U32, false)
	case 'u':
		return f.source(fn, op, U32, false)
	case 'k':
		return policyFault(fn, op)
	case 'd', 'D':
		return f.destination(fn, op, f.first, letter == 'D')
	case 'w':
		return f.destination(fn, op, f.doubled(), false)
	case 'v':
		return f.source(fn, op, f.doubled(), false)
	case 'e':
		return f.source(fn, op, f.first, false)
	case 'a', 'A':
		return f.source(fn, op, f.last, letter == 'A')
	}
	return ""
}

// unless returns required if ok is false, else "". Functions named …Fault return such a
// description, which completes the sentence "operand 1 of add.u32 must be …".
func unless(ok bool, required string) string {
	if ok {
		return ""
	}
	return required
}

// addressFault returns a description of an address operand, or "" if op is one.
func (f *form) addressFault(fn *Func, op *Operand) string {
	ok := op.Kind != OpReg || op.Reg != NoReg && (typesAgree(fn.Regs[op.Reg].Type, U32, false) || typesAgree(fn.Regs[op.Reg].Type, U64, false))
	return unless(ok, "a register of 32 or 64 bits that holds an address")
}

// policyFault returns a description of a cache policy, or "" if op is one: a register of 64
// bits or a number.
func policyFault(fn *Func, op *Operand) string {
	ok := op.Kind == OpInt || op.Kind == OpReg && op.Reg != NoReg && typesAgree(fn.Regs[op.Reg].Type, U64, false)
	return unless(ok, "a cache policy in a register of 64 bits")
}

// doubled returns the result type of mul.wide and mad.wide, or the first type of other forms.
func (f *form) doubled() Type {
	switch {
	case !f.wide:
		return f.first
	case f.first == U16 || f.first == S16:
		return B32
	default:
		return B64
	}
}

// isPredicate reports whether an operand is a predicate register.
func isPredicate(fn *Func, op *Operand) bool {
	switch op.Kind {
	case OpReg:
		return op.Reg == NoReg || fn.Regs[op.Reg].Type == Pred
	case OpPair:
		return (op.Reg == NoReg || fn.Regs[op.Reg].Type == Pred) && (op.Reg2 == NoReg || fn.Regs[op.Reg2].Type == Pred)
	}
	return false
}

// destination returns a description of a result of type typ, or "" if op can be one.
func (f *form) destination(fn *Func, op *Operand, typ Type, wider bool) string {
	switch op.Kind {
	case OpReg, OpPair:
		// A vector instruction needs a vector, also for one register.
		if f.vector > 0 {
			return fmt.Sprintf("a vector of %d elements", f.vector)
		}
		return f.register(fn, op.Reg, typ, wider)
	// {a, b} of a mov or of a vector load; see vectorFault.
	case OpVector:
		return f.vectorFault(fn, op, typ, wider, true)
	}
	return fmt.Sprintf("a register of type .%s", typ)
}

// source returns a description of a source of type typ, or "" if op can be one. A special
// register or the address of a variable is checked by operandRule.
func (f *form) source(fn *Func, op *Operand, typ Type, wider bool) string {
	if f.vector > 0 && op.Kind != OpVector {
		return fmt.Sprintf("a vector of %d elements", f.vector)
	}
	switch op.Kind {
	case OpReg:
		return f.register(fn, op.Reg, typ, wider)
	case OpVector:
		return f.vectorFault(fn, op, typ, wider, false)
	case OpFloat32, OpFloat64:
		return unless(typ.takesFloat(op.Kind), fmt.Sprintf("a register or an integer of type .%s", typ))
	case OpInt:
		return unless(!typ.Float(), fmt.Sprintf("a register or a floating-point constant of type .%s", typ))
	case OpSpecial, OpSymbol:
		return ""
	}
	return fmt.Sprintf("a register or a value of type .%s", typ)
}

// takesFloat reports whether a floating-point constant of the given kind may be
// an operand of type t. Of the bit types, only that of the same width accepts
// it.
func (t Type) takesFloat(kind OperandKind) bool {
	switch t.family() {
	case 'f':
		return true
	case 'b':
		return t == B64 && kind == OpFloat64 || t == B32 && kind == OpFloat32
	}
	return false
}

// register returns a description of a register of type typ, or "" if register id can be one.
// The sink "_" has every type.
func (f *form) register(fn *Func, id RegID, typ Type, wider bool) string {
	if id == NoReg || typesAgree(fn.Regs[id].Type, typ, wider) {
		return ""
	}
	return fmt.Sprintf("a register of type .%s", typ)
}

// vectorFault checks {a, b}, which has two meanings: the parts of one wide value in a mov, or
// the elements of a vector load or store. In a load or store without .v2 or .v4, {a} is a.
func (f *form) vectorFault(fn *Func, op *Operand, typ Type, wider, result bool) string {
	switch {
	case f.vector > 0:
		return f.elementsFault(fn, op, f.vector, typ, wider, result)
	// {a} of a load or store is the register a.
	case len(op.Elems) == 1 && f.moves && op.Elems[0].Kind == OpReg:
		return f.elementsFault(fn, op, 1, typ, wider, result)
	case len(op.Elems) == 1 && f.moves && !result: // {1} means 1
		return f.source(fn, &op.Elems[0], typ, wider)
	}
	return f.partsFault(fn, op, typ)
}

// describe describes an operand for an error message.
func (f *Func) describe(op *Operand) string {
	switch op.Kind {
	case OpReg, OpPair:
		if op.Reg == NoReg {
			return "_"
		}
		return fmt.Sprintf("the .%s register %s", f.Regs[op.Reg].Type, f.Regs[op.Reg].Name)
	case OpInt:
		return fmt.Sprintf("the integer %d", op.Imm)
	case OpFloat32, OpFloat64:
		return "a floating-point constant"
	case OpMem:
		return "an address in brackets"
	case OpVector:
		return fmt.Sprintf("a vector of %d elements", len(op.Elems))
	case OpList:
		return "a list"
	case OpSymbol:
		if op.Var != nil {
			return "the address of " + op.Var.Name
		}
	}
	return op.Name
}
