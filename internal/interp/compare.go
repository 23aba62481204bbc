package interp

// tester compares the operands a and b of a record over all lanes.
type tester func(w *warp, in *inst) uint32

// tests maps "cmp.type", with ".ftz" behind f32, to its tester.
var tests = buildTests()

// buildTests returns the comparisons of all types. The specialised ones of addHotTests come
// last and replace general ones.
func buildTests() map[string]tester {
	t := map[string]tester{}
	addOrdered[int16](t, "s16")
	addOrdered[int32](t, "s32")
	addOrdered[int64](t, "s64")
	addOrdered[uint16](t, "u16")
	addOrdered[uint32](t, "u32")
	addOrdered[uint64](t, "u64")
	addEqual[uint16](t, "b16")
	addEqual[uint32](t, "b32")
	addEqual[uint64](t, "b64")
	addUnordered(t, "f32", func(a float32) float32 { return a })
	addUnordered(t, "f32.ftz", flush)
	addUnordered(t, "f64", func(a float64) float64 { return a })
	addHalfTests(t, "f16", halves{smallFloat: binary16}.in)
	addHalfTests(t, "bf16", halves{smallFloat: bfloat16}.in)
	addHotTests(t)
	return t
}

// addEqual registers the comparisons of untyped bits.
func addEqual[T unsigned](t map[string]tester, typ string) {
	t["eq."+typ] = liftTest(func(a, b T) bool { return a == b })
	t["ne."+typ] = liftTest(func(a, b T) bool { return a != b })
}

// addOrdered registers the comparisons of an integer type. lo, ls, hi and hs are the names
// of lt, le, gt and ge for unsigned types.
func addOrdered[T integer](t map[string]tester, typ string) {
	t["eq."+typ] = liftTest(func(a, b T) bool { return a == b })
	t["ne."+typ] = liftTest(func(a, b T) bool { return a != b })
	t["lt."+typ] = liftTest(func(a, b T) bool { return a < b })
	t["le."+typ] = liftTest(func(a, b T) bool { return a <= b })
	t["gt."+typ] = liftTest(func(a, b T) bool { return a > b })
	t["ge."+typ] = liftTest(func(a, b T) bool { return a >= b })
	t["lo."+typ], t["ls."+typ] = t["lt."+typ], t["le."+typ]
	t["hi."+typ], t["hs."+typ] = t["gt."+typ], t["ge."+typ]
}

// addUnordered registers float comparisons. Those whose name ends in u are true if an
// operand is a NaN. read returns the value of a register, flushed for .ftz.
func addUnordered[A any, T float](t map[string]tester, typ string, read func(A) T) {
	reg := func(name string, f func(a, b T) bool) {
		t[name+"."+typ] = liftTest(func(a, b A) bool { return f(read(a), read(b)) })
	}
	reg("eq", func(a, b T) bool { return a == b })
	reg("ne", func(a, b T) bool { return a < b || a > b })
	reg("lt", func(a, b T) bool { return a < b })
	reg("le", func(a, b T) bool { return a <= b })
	reg("gt", func(a, b T) bool { return a > b })
	reg("ge", func(a, b T) bool { return a >= b })
	reg("equ", func(a, b T) bool { return !(a < b || a > b) })
	reg("neu", func(a, b T) bool { return a != b })
	reg("ltu", func(a, b T) bool { return !(a >= b) })
	reg("leu", func(a, b T) bool { return !(a > b) })
	reg("gtu", func(a, b T) bool { return !(a <= b) })
	reg("geu", func(a, b T) bool { return !(a < b) })
	reg("num", func(a, b T) bool { return a == a && b == b })
	reg("nan", func(a, b T) bool { return a != a || b != b })
}

// addHalfTests registers comparisons of a 16-bit type, and of the two halves of a
// packed register.
func addHalfTests(t map[string]tester, typ string, read func(uint16) float64) {
	addUnordered(t, typ, read)
	addUnordered(t, typ+"x2", func(a uint32) float64 { return read(uint16(a)) })
	addUnordered(t, typ+"x2.upper", func(a uint32) float64 { return read(uint16(a >> 16)) })
	if typ == "f16" {
		flushed := func(a uint16) float64 { return read(halves{smallFloat: binary16}.flush(a)) }
		addUnordered(t, "f16.ftz", flushed)
		addUnordered(t, "f16x2.ftz", func(a uint32) float64 { return flushed(uint16(a)) })
		addUnordered(t, "f16x2.ftz.upper", func(a uint32) float64 { return flushed(uint16(a >> 16)) })
	}
}

// combiners join a comparison with a predicate operand.
var combiners = map[string]func(v, p uint32) uint32{
	"and": func(v, p uint32) uint32 { return v & p },
	"or":  func(v, p uint32) uint32 { return v | p },
	"xor": func(v, p uint32) uint32 { return v ^ p },
}

// testValues returns an inst's comparison and its second result, each combined with the
// predicate operand. The second is the comparison of the upper halves of packed
// operands, or the negated first.
func (in *inst) testValues(w *warp) (first, second uint32) {
	first = in.x.test(w, in)
	second = ^first
	if in.x.upper != nil {
		second = in.x.upper(w, in)
	}
	if in.x.combine != nil {
		p := w.getPred(in.x.p, in.x.pNeg)
		return in.x.combine(first, p), in.x.combine(second, p)
	}
	return first, second
}

// setp writes d and, if present, d2.
func setp(w *warp, in *inst) {
	first, second := in.testValues(w)
	w.setPred(in.d, first)
	w.setPred(in.x.d2, second)
}

// set writes yes, all ones or 1.0, to the lanes in which the comparison holds, and 0 to
// the others.
func set[T unsigned](yes T) handler {
	return func(w *warp, in *inst) {
		v, _ := in.testValues(w)
		d := view[T](w, in.d)
		each(w.live, func(i int) { d[i] = choose(v>>i&1 != 0, yes, 0) })
	}
}

// setPacked is set for each half of a register.
func setPacked(yes uint16) handler {
	return func(w *warp, in *inst) {
		lo, hi := in.testValues(w)
		d := view[uint32](w, in.d)
		each(w.live, func(i int) { d[i] = pair(choose(lo>>i&1 != 0, yes, 0), choose(hi>>i&1 != 0, yes, 0)) })
	}
}

// addPredicates registers logic on predicates, 32 lanes in one word.
func addPredicates(t opTable) {
	reg := func(name string, f func(a, b uint32) uint32) {
		t[name+".pred"] = func(w *warp, in *inst) { w.setPred(in.d, f(w.preds[in.a], w.preds[in.b])) }
	}
	reg("and", func(a, b uint32) uint32 { return a & b })
	reg("or", func(a, b uint32) uint32 { return a | b })
	reg("xor", func(a, b uint32) uint32 { return a ^ b })
	t["not.pred"] = func(w *warp, in *inst) { w.setPred(in.d, ^w.preds[in.a]) }
	t["mov.pred"] = func(w *warp, in *inst) { w.setPred(in.d, w.preds[in.a]) }
	t["selp.b16"] = selp[uint16]
	t["selp.b32"] = selp[uint32]
	t["selp.b64"] = selp[uint64]
}

// selp selects a in lanes where predicate c holds, else b.
func selp[T unsigned](w *warp, in *inst) {
	d, a, b, p := view[T](w, in.d), view[T](w, in.a), view[T](w, in.b), w.preds[in.c]
	if w.live == allLanes {
		for i := range lanes {
			v := b[i]
			if p&1 != 0 {
				v = a[i]
			}
			d[i] = v
			p >>= 1
		}
		return
	}
	each(w.live, func(i int) { d[i] = choose(p>>i&1 != 0, a[i], b[i]) })
}

// properties are the tests of testp; normal is the smallest normal magnitude.
var properties = map[string]func(a, normal float64) bool{
	"finite":     func(a, _ float64) bool { return a-a == 0 },
	"infinite":   func(a, _ float64) bool { return a == a && a-a != 0 },
	"number":     func(a, _ float64) bool { return a == a },
	"notanumber": func(a, _ float64) bool { return a != a },
	"normal":     func(a, normal float64) bool { return a-a == 0 && max(a, -a) >= normal },
	"subnormal":  func(a, normal float64) bool { return a != 0 && max(a, -a) < normal },
}
