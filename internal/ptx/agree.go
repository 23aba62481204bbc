package ptx

import "fmt"

// typesAgree reports whether a register of type have may be an operand of type typ, by the
// rules for operand types in the PTX ISA:
//
//	                 operand .bX       .uX .sX            .fX
//	register .bX     yes               yes                yes
//	register .uX .sX yes               yes, any sign      no
//	register .fX     yes               no                 the same type, or both of 16 bits
//
// Sizes must be equal. With wider, as for ld, st and cvt, the register may have more bits than
// the operand, except that floating-point types then accept only bits ("Operand Size Exceeding
// Instruction-Type Size"). Among integers .f16x2 counts as bits, as in ptxas. A predicate is
// only a predicate.
func typesAgree(have, typ Type, wider bool) bool {
	same := have.Size() == typ.Size()
	switch {
	case have == Pred || typ == Pred:
		return have == typ
	case !same && (!wider || have.Size() < typ.Size()):
		return false
	case typ.bits() || have.bits():
		return true
	case typ.Float():
		return same && (have == typ || typ.half() && have.half())
	}
	return !have.Float() || have == F16X2
}

// bits reports whether t is untyped.
func (t Type) bits() bool { return t >= B8 && t <= B128 }

// half reports whether t is one or two floating-point numbers of 16 bits.
func (t Type) half() bool { return t >= F16 && t <= BF16X2 }

// elementsFault returns a description of the operand that a vector load, store or similar
// instruction requires, or "" if the operand is a vector of count elements of type typ. The
// elements are joined to one type first, which is then compared with typ.
func (f *form) elementsFault(fn *Func, op *Operand, count int, typ Type, wider, result bool) string {
	if len(op.Elems) != count {
		return fmt.Sprintf("a vector of %d elements", count)
	}
	var all element
	for i := range op.Elems {
		if isPred(fn, &op.Elems[i]) || result && op.Elems[i].Kind != OpReg {
			return "a vector of registers of type ." + typ.String()
		}
		// all is the common type of the elements up to this one.
		if !all.join(f.element(fn, &op.Elems[i], typ)) {
			return "a vector of elements of one type"
		}
	}
	return unless(all.fits(typ, wider), "a vector of elements of type ."+typ.String())
}

// element is the type of the elements of a vector, as far as the elements so far determine
// it.
type element struct {
	kind elementKind
	size int // bytes, 0 for any size
}

// elementKind is ordered: the larger of two kinds is that of their vector.
type elementKind uint8

// The kinds are ordered: the larger of two kinds is that of their vector. An element of bits
// makes the vector one of bits.
const (
	anyElement elementKind = iota
	integerElement
	floatElement
	bitsElement
)

// element returns the type of one element e of a vector. of is the element type that the
// instruction requires. Constants have no size. Special registers are bits; a mov may read 16
// bits of those that had 16 bits in PTX 1.x.
func (f *form) element(fn *Func, e *Operand, of Type) element {
	typ := NoType
	switch e.Kind {
	case OpInt:
		return element{kind: integerElement}
	case OpFloat32, OpFloat64:
		return element{kind: floatElement}
	case OpSpecial:
		if f.packs && of.Size() == 2 && narrowSpecial(e.Name) {
			return element{bitsElement, 2}
		}
		return element{bitsElement, specialType(e.Name).Size()}
	case OpReg:
		if e.Reg == NoReg {
			return element{}
		}
		typ = fn.Regs[e.Reg].Type
	}
	switch {
	case typ.bits() || typ == F16X2:
		return element{bitsElement, typ.Size()}
	case typ.Float():
		return element{floatElement, typ.Size()}
	}
	return element{integerElement, typ.Size()}
}

// join makes e the type of a vector that contains both elements, and reports
// whether there is such a type. One element of bits makes the vector one of
// bits, as in ptxas.
func (e *element) join(o element) bool {
	if e.size != 0 && o.size != 0 && e.size != o.size {
		return false
	}
	e.size = max(e.size, o.size)
	// An integer and a floating-point element have no common type, unless bits make them
	// one.
	mixed := e.kind+o.kind == integerElement+floatElement && e.kind != o.kind && e.kind != anyElement && o.kind != anyElement
	e.kind = max(e.kind, o.kind)
	return !mixed
}

// fits reports whether a vector of such elements may be an operand of type typ.
// Integers of the same size may be used as floating-point numbers, as in ptxas.
func (e element) fits(typ Type, wider bool) bool {
	size := typ.Size()
	switch {
	case e.kind == bitsElement || e.kind == anyElement || typ.bits():
		return e.size == 0 || e.size == size || wider && e.size > size
	case e.kind == floatElement:
		return typ.Float() && (e.size == 0 || e.size == size)
	case typ.Float():
		return e.size == size
	}
	return e.size == 0 || e.size == size || wider && e.size > size
}

// isPred reports whether an operand is a predicate register.
func isPred(fn *Func, op *Operand) bool {
	return op.Kind == OpReg && op.Reg != NoReg && fn.Regs[op.Reg].Type == Pred
}

// partsFault returns a description of the operand {a, b} that a mov requires, or "" if its
// parts add up to a value of type typ. Parts without a size, such as constants, fit any size.
func (f *form) partsFault(fn *Func, op *Operand, typ Type) string {
	n := len(op.Elems)
	if !f.packs || !typ.bits() || n == 0 || typ.Size()%n != 0 {
		return fmt.Sprintf("a register of type .%s", typ)
	}
	for i := range op.Elems {
		if size := f.element(fn, &op.Elems[i], NoType).size; size != 0 && size != typ.Size()/n {
			return fmt.Sprintf("%d parts of %d bits each", n, 8*typ.Size()/n)
		}
	}
	return ""
}
