package ptx

// PTX has two operands that compute: name[i], an element of an array, and reg+n, a register
// plus a constant. The parser replaces both, so that later passes see only registers and
// addresses:
//
//	ld.u32 %r1, a[2]           ld.u32 %r1, [a+8]
//	mov.u32 %r1, a[%r2]        the address a + 4*%r2 in %index, see element
//	                           mov.u32 %r1, %index
//	add.u32 %r1, %r2+3, 1      add.u32 %sum, %r2, 3
//	                           add.u32 %r1, %sum, 1
//
// The added instructions use new registers and stand in front of their instruction. They need
// no guard, since no other instruction reads their results.

// elementAt parses "[i]" after the name of a variable. An index counts elements
// of the fundamental type, also in an array of vectors or of several
// dimensions: ptxas adds 4 bytes for a[1] with ".v4 .f32 a[4]". A register as
// index is taken modulo 2^32, and so is its product with the element's size.
func (b *body) elementAt(in *Inst, t token, op *Operand) {
	p := b.p
	p.next()
	v := op.Var
	if v == nil || !v.array() {
		p.fail(t.pos, "%s is not an array: only an array can have an index", t.text)
	}
	// In ld and st the element is accessed; in mov and cvta its address is the operand.
	memory := in.Name == "ld" || in.Name == "st" || in.Name == "ldu"
	if !memory && in.Name != "mov" && in.Name != "cvta" {
		p.fail(t.pos, "%s[…] cannot be an operand of %s, only of mov, cvta, ld and st", t.text, in.Opcode())
	}
	size := int64(v.Type.Size())
	id, indexed := NoReg, false
	if p.tok.kind == tokWord {
		id, indexed = b.register(p.tok.text)
	}
	if !indexed {
		op.Imm = p.constantInt("an index") * size
		p.expect(']', "after an index")
		if memory {
			op.Kind = OpMem
		}
		return
	}
	r := p.tok
	p.next()
	n := p.offset()
	p.expect(']', "after an index")
	*op = b.element(in, r, v, id, n, size)
	if memory {
		op.Kind = OpMem
	}
}

// element emits the address of v + (reg + n) * size and returns the register that holds it. The
// index is computed modulo 2^32 and then zero-extended:
//
//	mov.b32      %index, reg           or cvt from 16 or 64 bits
//	add.u32      %index, %index, n
//	mul.lo.u32   %index, %index, size
//	cvt.u64.u32  %offset, %index
//	mov.u64      %element, v
//	add.u64      %element, %element, %offset
//
// A mov of 16 or 32 bits gets the low bits of the address.
func (b *body) element(in *Inst, r token, v *Var, reg RegID, n, size int64) Operand {
	typ := b.f.Regs[reg].Type
	if !typ.Integer() || typ.Size() < 2 || typ.Size() > 8 {
		b.p.fail(r.pos, "the index %s is a .%s register; it must be an integer of 16, 32 or 64 bits", r.text, typ)
	}
	index, offset, base := b.newReg("%index", B32), b.newReg("%offset", B64), b.newReg("%element", B64)
	switch typ.Size() {
	case 2:
		b.emit(in, "cvt.u32.u16", index, register(reg))
	case 4:
		b.emit(in, "mov.b32", index, register(reg))
	case 8:
		b.emit(in, "cvt.u32.u64", index, register(reg))
	}
	b.emit(in, "add.u32", index, register(index), constant(n))
	b.emit(in, "mul.lo.u32", index, register(index), constant(size))
	b.emit(in, "cvt.u64.u32", offset, register(index))
	b.emit(in, "mov.u64", base, Operand{Kind: OpSymbol, Var: v, Reg: NoReg, Reg2: NoReg})
	b.emit(in, "add.u64", base, register(base), register(offset))
	if in.Name != "mov" || len(in.Suffix) == 0 {
		return register(base)
	}
	switch typ, _ := ParseType(in.Suffix[len(in.Suffix)-1]); typ.Size() {
	case 4:
		b.emit(in, "cvt.u32.u64", index, register(base))
		return register(index)
	case 2:
		half := b.newReg("%half", B16)
		b.emit(in, "cvt.u16.u64", half, register(base))
		return register(half)
	}
	return register(base)
}

// registerPlus parses "+n" after a register, operand arg of in. Without one it returns op.
func (b *body) registerPlus(in *Inst, t token, op Operand, arg int) Operand {
	p := b.p
	if p.tok.kind != '+' || op.Kind != OpReg || op.Reg == NoReg {
		return op
	}
	typ := b.f.Regs[op.Reg].Type
	switch {
	case arg == 0 && in.Name != "st" && in.Name != "red" && in.Name != "nanosleep":
		p.fail(p.tok.pos, "the result of %s cannot be a register plus a constant", in.Opcode())
	case !typ.Integer() || typ.Size() < 2 || typ.Size() > 8:
		p.fail(t.pos, "%s is a .%s register: a constant can be added only to integers of 16, 32 or 64 bits", t.text, typ)
	}
	sum := b.newReg("%sum", typ)
	b.emit(in, [...]string{2: "add.u16", 4: "add.u32", 8: "add.u64"}[typ.Size()], sum, op, constant(p.offset()))
	op.Reg = sum
	return op
}

// register returns the operand of a register.
func register(id RegID) Operand { return Operand{Kind: OpReg, Reg: id, Reg2: NoReg} }

// constant returns the operand of an integer.
func constant(n int64) Operand { return Operand{Kind: OpInt, Imm: n, Reg: NoReg, Reg2: NoReg} }

// emit inserts an instruction in front of in.
func (b *body) emit(in *Inst, word string, d RegID, sources ...Operand) {
	code := b.p.opcode(word)
	args := append([]Operand{register(d)}, sources...)
	for i := range args {
		args[i].Pos = in.Pos
	}
	b.f.Body = append(b.f.Body, Inst{
		Pos: in.Pos, Loc: in.Loc, Guard: Guard{Reg: NoReg},
		Name: code.name, Suffix: code.suffix, Args: b.p.storeOperands(args),
	})
}

// array reports whether v was declared with extents, apart from that of a
// vector type.
func (v *Var) array() bool { return len(v.Dims) > v.vector }
