package interp

import "math/bits"

// addCarry registers extended-precision arithmetic: the .cc forms leave a
// carry, or a borrow, in the lane's condition code; the c forms take it in.
func addCarry(t opTable) {
	registerCarry[uint32](t, "32", func(a, b, c uint32) (uint32, uint32) { return bits.Add32(a, b, c) },
		func(a, b, c uint32) (uint32, uint32) { return bits.Sub32(a, b, c) })
	registerCarry[uint64](t, "64", func(a, b, c uint64) (uint64, uint64) { return bits.Add64(a, b, c) },
		func(a, b, c uint64) (uint64, uint64) { return bits.Sub64(a, b, c) })
}

type carryFunc[T unsigned] func(a, b, carry T) (sum, out T)

func registerCarry[T unsigned](t opTable, size string, add, sub carryFunc[T]) {
	for _, typ := range []string{"u" + size, "s" + size} {
		for _, out := range []bool{false, true} {
			cc := ""
			if out {
				cc = ".cc"
				t["add.cc."+typ] = carry2(add, false, true)
				t["sub.cc."+typ] = carry2(sub, false, true)
				t["mad.lo.cc."+typ] = carry3(productLow[T], add, false, true)
				t["mad.hi.cc."+typ] = carry3(productHigh[T](typ), add, false, true)
			}
			t["addc"+cc+"."+typ] = carry2(add, true, out)
			t["subc"+cc+"."+typ] = carry2(sub, true, out)
			t["madc.lo"+cc+"."+typ] = carry3(productLow[T], add, true, out)
			t["madc.hi"+cc+"."+typ] = carry3(productHigh[T](typ), add, true, out)
		}
	}
}

func productLow[T unsigned](a, b T) T { return a * b }

func productHigh[T unsigned](typ string) func(a, b T) T {
	if typ[0] == 'u' {
		return mulHi[T]
	}
	top := width[T]() - 1
	return func(a, b T) T { return mulHi(a, b) - b*(a>>top) - a*(b>>top) }
}

func carry2[T unsigned](f carryFunc[T], in, out bool) handler {
	return func(w *warp, r *inst) {
		d, a, b := view[T](w, r.d), view[T](w, r.a), view[T](w, r.b)
		each(w.live, func(i int) { d[i] = step(w, f, a[i], b[i], i, in, out) })
	}
}

func carry3[T unsigned](mul func(a, b T) T, f carryFunc[T], in, out bool) handler {
	return func(w *warp, r *inst) {
		d, a, b, c := view[T](w, r.d), view[T](w, r.a), view[T](w, r.b), view[T](w, r.c)
		each(w.live, func(i int) { d[i] = step(w, f, mul(a[i], b[i]), c[i], i, in, out) })
	}
}

// step does one lane's addition with the condition code.
func step[T unsigned](w *warp, f carryFunc[T], a, b T, lane int, in, out bool) T {
	var c T
	if in {
		c = T(w.carry >> lane & 1)
	}
	sum, c := f(a, b, c)
	if out {
		w.carry = w.carry&^(1<<lane) | uint32(c)<<lane
	}
	return sum
}
