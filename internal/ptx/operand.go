package ptx

import (
	"regexp"
	"strings"
)

// instruction parses the operands of opcode t up to the ';', checks the
// instruction and appends it.
func (b *body) instruction(t token, g Guard) {
	p := b.p
	code := p.opcode(t.text)
	in := Inst{Pos: t.pos, Loc: p.line, Guard: g, Name: code.name, Suffix: code.suffix}
	// Most instructions have at most eight operands, which then need no allocation before
	// storeOperands.
	var args [8]Operand
	list := args[:0]
	// Instructions such as ret have no operands.
	if p.tok.kind != ';' {
		for {
			list = append(list, b.operand(&in, len(list)))
			if !p.accept(',') {
				break
			}
		}
	}
	if p.tok.kind != ';' {
		p.unexpected("\",\" or \";\" after an operand of " + t.text)
	}
	in.Args = p.storeOperands(list)
	b.check(&in, code.form)
	b.f.Body = append(b.f.Body, in)
	p.next()
}

// opcode splits an opcode word at its dots and checks it. The result is cached: most words of a
// file are repetitions.
func (p *parser) opcode(word string) opcode {
	code, ok := p.opcodes[word]
	if !ok {
		parts := strings.Split(word, ".")
		code = opcode{name: parts[0], suffix: typesLast(parts[0], parts[1:])}
		code.form = newForm(word, code, p.m)
		p.opcodes[word] = code
	}
	return code
}

// storeOperands copies operands into a slab, so that one allocation serves hundreds of
// instructions.
func (p *parser) storeOperands(list []Operand) []Operand {
	if len(list) == 0 {
		return nil
	}
	if len(p.slab) < len(list) {
		p.slab = make([]Operand, 512+len(list))
	}
	kept := p.slab[:len(list):len(list)]
	p.slab = p.slab[len(list):]
	copy(kept, list)
	return kept
}

// operand parses operand arg of in, by its first token:
//
//	%r1, d|p, tid, name, name+n, name[i]    a word, see wordOperand
//	12, 0f3F800000, ~0                      a constant
//	-n, -%r1                                negative
//	!%p                                     complement
//	[base+n], [handle, {x, y}]              memory
//	{a, b}, {a, b}|p                        elems and pair
//	(a, b), or a constant in parentheses    elems of a call
func (b *body) operand(in *Inst, arg int) Operand {
	p := b.p
	pos := p.tok.pos
	var op Operand
	switch p.tok.kind {
	case tokWord:
		if p.tok.text == "WARP_SZ" {
			op = p.constant("a constant")
		} else {
			op = b.wordOperand(in, arg)
		}
	case tokNumber, '~', '+':
		op = p.constant("a number")
	case '-':
		op = b.negative(in)
	case '!':
		op = b.complement()
	case '[':
		p.next()
		op = b.memory()
	case '{':
		p.next()
		op = b.pair(b.elems(OpVector, '}'))
	case '(':
		if in.Name != "call" {
			op = p.constant("a constant")
			break
		}
		p.next()
		op = b.elems(OpList, ')')
	default:
		p.unexpected("an operand of " + in.Opcode())
	}
	op.Pos = pos
	return op
}

// complement parses !%p, for predicates only, or a constant that begins with
// '!'.
func (b *body) complement() Operand {
	p := b.p
	if next := p.ahead(); next.kind != tokWord || next.text == "WARP_SZ" {
		return p.constant("a predicate register")
	}
	p.next()
	t := p.name("a predicate register")
	id := b.needRegister(t)
	if typ := b.f.Regs[id].Type; typ != Pred {
		b.p.fail(t.pos, "'!' needs a predicate register, and %s is .%s: use not to complement bits", t.text, typ)
	}
	return Operand{Kind: OpReg, Neg: true, Reg: id, Reg2: NoReg}
}

// negative parses an operand that starts with '-': a constant, or a source of
// vmad.
func (b *body) negative(in *Inst) Operand {
	p := b.p
	if in.Name != "vmad" {
		return p.constant("a number")
	}
	p.next()
	if p.tok.kind != tokWord {
		op := p.constant("a number")
		op.Imm = -op.Imm
		return op
	}
	op := b.wordOperand(in, len(in.Args))
	op.Neg = op.Kind == OpReg
	return op
}

// wordOperand parses an operand that starts with a name: a register, d|p, a special register, a
// label, a function, or a symbol with an offset. Names of registers come first, since a
// register may have the name of a variable of the module.
func (b *body) wordOperand(in *Inst, arg int) Operand {
	p := b.p
	t := p.name("an operand of " + in.Name)
	switch in.Name {
	case "bra":
		return b.labelOperand(t, arg, -1)
	case "brx":
		if arg > 0 {
			return b.branchTable(t, arg)
		}
	case "call":
		// A register as callee is an ordinary operand.
		if op, ok := b.callOperand(t); ok {
			return op
		}
	}
	if t.text == "_" {
		return b.pair(Operand{Kind: OpReg, Reg: NoReg, Reg2: NoReg})
	}
	if id, ok := b.register(t.text); ok {
		return b.registerPlus(in, t, b.pair(register(id)), arg)
	}
	if op, ok := b.vectorRegister(t); ok {
		return op
	}
	if op, ok := b.partOperand(in, t); ok {
		return op
	}
	if name := specialRegister(t.text); name != "" {
		return Operand{Kind: OpSpecial, Name: name, Reg: NoReg, Reg2: NoReg}
	}
	op := Operand{Kind: OpSymbol, Reg: NoReg, Reg2: NoReg}
	b.symbolBase(t, &op)
	if p.tok.kind == '[' {
		b.elementAt(in, t, &op)
		return op
	}
	op.Imm = p.offset()
	return op
}

// selectors match the part of a register that a video instruction operates on. Scalar
// instructions have .b0 to .b3, .h0 and .h1. SIMD instructions have one digit for each
// element, as in .h10 and .b3210, and masks of elements, as in .b20.
var selectors = regexp.MustCompile(`^(b[0-3]|h[01]|h[0-3]{2}|b[0-7]{4}|b[0-3]{2,3})$`)

// partOperand parses %r.b0, %r.h10 and similar operands of video instructions.
func (b *body) partOperand(in *Inst, t token) (Operand, bool) {
	name, part, _ := strings.Cut(t.text, ".")
	// Only the names of video instructions, and vote, begin with v; vote has no such
	// operands.
	if in.Name[0] != 'v' || !selectors.MatchString(part) {
		return Operand{}, false
	}
	id, ok := b.register(name)
	return Operand{Kind: OpReg, Reg: id, Reg2: NoReg, Name: part}, ok
}

// pair parses the "|p" of d|p.
func (b *body) pair(op Operand) Operand {
	if !b.p.accept('|') {
		return op
	}
	if op.Kind == OpReg {
		op.Kind = OpPair
	}
	t := b.p.name("a predicate register after '|'")
	switch {
	// d|_ discards the predicate.
	case t.text != "_":
		op.Reg2 = b.needRegister(t)
	case op.Kind == OpPair && op.Reg == NoReg:
		b.p.fail(t.pos, "_|_ discards both results: at least one must be a register")
	}
	return op
}

// callOperand resolves the names in a call: functions and prototypes.
func (b *body) callOperand(t token) (Operand, bool) {
	op := Operand{Kind: OpFunc, Name: t.text, Reg: NoReg, Reg2: NoReg}
	// Inner scopes hide outer ones.
	for i := len(b.scopes) - 1; i >= 0; i-- {
		if flat, ok := b.scopes[i].protos[t.text]; ok {
			op.Name = flat
			return op, true
		}
	}
	if _, ok := b.register(t.text); ok {
		return op, false
	}
	b.p.useSymbol(t, useCall)
	return op, true
}

// labelOperand returns a label that is resolved when its scope is closed. elem is its index in
// the list of a branch table, or -1.
func (b *body) labelOperand(t token, arg, elem int) Operand {
	s := b.top()
	s.uses = append(s.uses, labelUse{t.pos, t.text, len(b.f.Body), arg, elem})
	return Operand{Pos: t.pos, Kind: OpLabel, Name: t.text, Reg: NoReg, Reg2: NoReg}
}

// branchTable replaces the name of a .branchtargets list by its labels.
func (b *body) branchTable(t token, arg int) Operand {
	for i := len(b.scopes) - 1; i >= 0; i-- {
		if list, ok := b.scopes[i].tables[t.text]; ok {
			op := Operand{Kind: OpList, Reg: NoReg, Reg2: NoReg}
			for n, label := range list {
				op.Elems = append(op.Elems, b.labelOperand(label, arg, n))
			}
			return op
		}
	}
	b.p.fail(t.pos, "%s is not a .branchtargets list", t.text)
	return Operand{}
}

// symbol parses name or name+n.
func (b *body) symbol(t token) Operand {
	op := Operand{Kind: OpSymbol, Reg: NoReg, Reg2: NoReg}
	b.symbolBase(t, &op)
	op.Imm = b.p.offset()
	return op
}

// symbolBase sets op to a variable, or records the use of a name that may be declared later. A
// name that starts with % can only be a register.
func (b *body) symbolBase(t token, op *Operand) {
	// A local name hides that of the module; a function may be declared later.
	if v, ok := b.variable(t.text); ok {
		op.Var = v
		return
	}
	// No variable or function begins with %.
	if t.text[0] == '%' {
		b.undeclared(t)
	}
	op.Name = t.text
	b.p.useSymbol(t, useAddress)
}

// offset parses "+n" after a base; it returns 0 if there is none. PTX does not
// allow "-n".
func (p *parser) offset() int64 {
	if p.tok.kind == '-' {
		p.fail(p.tok.pos, "an address cannot contain '-': write a negative offset as +-n")
	}
	if !p.accept('+') {
		return 0
	}
	return p.constantInt("an offset")
}

// vectorRegister replaces the name of a vector of registers by its elements.
func (b *body) vectorRegister(t token) (Operand, bool) {
	if specialVector(t.text) {
		op := Operand{Pos: t.pos, Kind: OpVector, Reg: NoReg, Reg2: NoReg}
		for _, axis := range axes {
			op.Elems = append(op.Elems, Operand{Pos: t.pos, Kind: OpSpecial, Name: t.text + axis, Reg: NoReg, Reg2: NoReg})
		}
		return op, true
	}
	for i := len(b.scopes) - 1; i >= 0; i-- {
		if list, ok := b.scopes[i].vectors[t.text]; ok {
			op := Operand{Pos: t.pos, Kind: OpVector, Reg: NoReg, Reg2: NoReg}
			for _, id := range list {
				op.Elems = append(op.Elems, Operand{Pos: t.pos, Kind: OpReg, Reg: id, Reg2: NoReg})
			}
			return op, true
		}
	}
	return Operand{}, false
}

// memory parses "[base+n]" from behind the '[', or a texture's "[base, {x,
// y}]".
func (b *body) memory() Operand {
	p := b.p
	op := Operand{Kind: OpMem, Reg: NoReg, Reg2: NoReg}
	switch t := p.tok; t.kind {
	case tokWord:
		p.name("an address")
		if id, ok := b.register(t.text); ok {
			op.Reg = id
		} else {
			b.symbolBase(t, &op)
		}
		op.Imm = p.offset()
	case tokNumber, '-', '(', '~':
		op.Imm = p.constantInt("an address")
	default:
		p.unexpected("an address")
	}
	// Texture operands have a sampler and coordinates behind the handle.
	for len(op.Elems) < 3 && p.accept(',') {
		op.Elems = append(op.Elems, b.coordinate())
	}
	p.expect(']', "after an address")
	return op
}

// coordinate parses the second or third part of a texture operand.
func (b *body) coordinate() Operand {
	pos := b.p.tok.pos
	if b.p.accept('{') {
		op := b.elems(OpVector, '}')
		op.Pos = pos
		return op
	}
	if t := b.p.tok; t.kind == tokWord {
		if op, ok := b.vectorRegister(t); ok {
			b.p.next()
			return op
		}
	}
	return b.elem()
}

// elems parses the scalars of a vector or a list, up to the closing character.
func (b *body) elems(kind OperandKind, close tokenKind) Operand {
	p := b.p
	op := Operand{Kind: kind, Reg: NoReg, Reg2: NoReg}
	var list [8]Operand
	elems := list[:0]
	for p.tok.kind != close {
		elems = append(elems, b.elem())
		if !p.comma(close, "an element") {
			break
		}
	}
	p.expect(close, "after the last element")
	op.Elems = p.storeOperands(elems)
	return op
}

// elem parses a scalar in a vector, a list or a texture address.
func (b *body) elem() Operand {
	p := b.p
	t := p.tok
	op := Operand{Pos: t.pos, Kind: OpReg, Reg: NoReg, Reg2: NoReg}
	switch t.kind {
	case tokWord:
		p.name("an element")
		switch id, ok := b.register(t.text); {
		case t.text == "WARP_SZ":
			op.Kind, op.Imm = OpInt, warpSize
		case t.text == "_":
		case ok:
			op.Reg = id
		case specialRegister(t.text) != "":
			op.Kind, op.Name = OpSpecial, specialRegister(t.text)
		default:
			op = b.symbol(t)
			op.Pos = t.pos
		}
	case tokNumber, '-', '~', '(', '!':
		op = p.constant("an element")
	default:
		p.unexpected("an element")
	}
	return op
}

// needRegister returns the register called t, or fails.
func (b *body) needRegister(t token) RegID {
	id, ok := b.register(t.text)
	if !ok {
		b.undeclared(t)
	}
	return id
}

// undeclared fails at a register that is not declared.
func (b *body) undeclared(t token) {
	b.p.fail(t.pos, "register %s is not declared in function %s", t.text, b.f.Name)
}

// Opcode returns the instruction's opcode as written, "ld.global.f32".
func (in *Inst) Opcode() string {
	if len(in.Suffix) == 0 {
		return in.Name
	}
	return in.Name + "." + strings.Join(in.Suffix, ".")
}
