package interp

import "math/bits"

// addCarry registers extended-precision arithmetic. The .cc forms leave the carry in the
// lane's condition code, and the c forms add it. Additions and subtractions share one
// definition, as a GPU has one adder: a - b is a + ^b + 1. The carry after a subtraction is
// therefore the complement of the borrow, and subc is a + ^b + carry. ptxas compiles every
// mix of both by these formulas, including sub.cc before addc.
func addCarry(t opTable) {
	registerCarry[uint32](t, "32", func(a, b, c uint32) (uint32, uint32) { return bits.Add32(a, b, c) })
	registerCarry[uint64](t, "64", func(a, b, c uint64) (uint64, uint64) { return bits.Add64(a, b, c) })
}

// carryFunc adds two numbers and a carry of 0 or 1.
type carryFunc[T unsigned] func(a, b, carry T) (sum, out T)

// registerCarry registers the operations of one width. out is set for the .cc forms:
//
//	opcode    computes            carry in
//	add.cc    a + b               0
//	addc      a + b               condition code
//	sub.cc    a + ^b              1
//	subc      a + ^b              condition code
//	mad.cc    lo or hi(a·b) + c   0
//	madc      lo or hi(a·b) + c   condition code
func registerCarry[T unsigned](t opTable, size string, add carryFunc[T]) {
	none, one, code := carryIn[T]{}, carryIn[T]{fixed: 1}, carryIn[T]{code: true}
	sub := func(a, b, c T) (T, T) { return add(a, ^b, c) }
	for _, typ := range []string{"u" + size, "s" + size} {
		for _, out := range []bool{false, true} {
			cc := ""
			if out {
				cc = ".cc"
				t["add.cc."+typ] = carry2(add, none, true)
				t["sub.cc."+typ] = carry2(sub, one, true)
				t["mad.lo.cc."+typ] = carry3(productLow[T], add, none, true)
				t["mad.hi.cc."+typ] = carry3(productHigh[T](typ), add, none, true)
			}
			t["addc"+cc+"."+typ] = carry2(add, code, out)
			t["subc"+cc+"."+typ] = carry2(sub, code, out)
			t["madc.lo"+cc+"."+typ] = carry3(productLow[T], add, code, out)
			t["madc.hi"+cc+"."+typ] = carry3(productHigh[T](typ), add, code, out)
		}
	}
}

// productLow returns the lower half of a product.
func productLow[T unsigned](a, b T) T { return a * b }

// productHigh returns the function for the upper half of a product. The signed one corrects
// the unsigned one for negative factors.
func productHigh[T unsigned](typ string) func(a, b T) T {
	if typ[0] == 'u' {
		return mulHi[T]
	}
	top := width[T]() - 1
	return func(a, b T) T { return mulHi(a, b) - b*(a>>top) - a*(b>>top) }
}

// carry2 lifts an operation on a and b.
func carry2[T unsigned](f carryFunc[T], in carryIn[T], out bool) handler {
	return func(w *warp, r *inst) {
		d, a, b := view[T](w, r.d), view[T](w, r.a), view[T](w, r.b)
		each(w.live, func(i int) { d[i] = step(w, f, a[i], b[i], i, in, out) })
	}
}

// carry3 lifts an operation on a product and c.
func carry3[T unsigned](mul func(a, b T) T, f carryFunc[T], in carryIn[T], out bool) handler {
	return func(w *warp, r *inst) {
		d, a, b, c := view[T](w, r.d), view[T](w, r.a), view[T](w, r.b), view[T](w, r.c)
		each(w.live, func(i int) { d[i] = step(w, f, mul(a[i], b[i]), c[i], i, in, out) })
	}
}

// carryIn is the carry that an addition takes in: the condition code or a constant.
type carryIn[T unsigned] struct {
	code  bool
	fixed T
}

// step computes one lane of an addition with the condition code.
func step[T unsigned](w *warp, f carryFunc[T], a, b T, lane int, in carryIn[T], out bool) T {
	c := in.fixed
	if in.code {
		c = T(w.carry >> lane & 1)
	}
	sum, c := f(a, b, c)
	if out {
		w.carry = w.carry&^(1<<lane) | uint32(c)<<lane
	}
	return sum
}
