package interp

import (
	"math"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// test resolves the comparison of setp and set, with its boolean operator. The forms, see
// "Comparison and Selection Instructions" in the PTX ISA:
//
//	setp.lt.s32        p|q, a, b          p = a < b, q = !p
//	setp.lt.and.s32    p|q, a, b, c       p = a < b && c, q = !(a < b) && c
//	setp.lt.f16x2      p|q, a, b          p for the lower halves, q for the upper
//	set.lt.u32.f32     d, a, b            d = all ones or 0
//	selp.b32           d, a, b, c         d = c ? a : b
//	slct.b32.s32       d, a, b, c         d = c >= 0 ? a : b
//	testp.finite.f32   p, a               a property of a
//	isspacep.shared    p, a               the state space of a generic address
func (l *lowering) test(r *inst, typ ptx.Type) error {
	in := l.in
	r.x = newExtra()
	key := in.Suffix[0] + "." + typ.String()
	if has(in, "ftz") {
		key += ".ftz"
	}
	t, ok := tests[key]
	if !ok || len(in.Args) < 3 {
		return l.fail("the interpreter cannot run this comparison")
	}
	// Packed types have a second comparison, of the upper halves.
	r.x.upper = tests[key+".upper"]
	r.x.test = t
	var err error
	if r.a, err = l.source(&in.Args[1], registerSize(typ), typ); err != nil {
		return err
	}
	if r.b, err = l.source(&in.Args[2], registerSize(typ), typ); err != nil {
		return err
	}
	if len(in.Args) == 4 {
		r.x.combine = combiners[in.Suffix[1]]
		if r.x.combine == nil {
			return l.fail("boolean operator .%s is unknown", in.Suffix[1])
		}
		r.x.p, r.x.pNeg, err = l.predicate(&in.Args[3])
	}
	return err
}

// setp lowers a comparison to one or two predicates.
func (l *lowering) setp() error {
	in := l.in
	list := types(in)
	if len(list) != 1 {
		return l.fail("the interpreter cannot run this comparison")
	}
	r := blank()
	err := l.test(&r, list[0])
	if err != nil {
		return err
	}
	if r.d, err = l.dest(&in.Args[0], 0); err != nil {
		return err
	}
	if r.x.d2, err = l.second(&in.Args[0]); err != nil {
		return err
	}
	r.exec = setp
	// The most frequent form has a handler without tests for the others.
	if r.x.d2 == noSlot && r.x.combine == nil {
		r.exec = setpOnly
	}
	l.emit(r, costALU)
	return nil
}

// setpOnly is setp with one destination and no boolean operator.
func setpOnly(w *warp, in *inst) {
	v := in.x.test(w, in)
	w.preds[in.d] = w.preds[in.d]&^w.live | v&w.live
}

// set lowers a comparison to a number.
func (l *lowering) set() error {
	in := l.in
	list := types(in)
	if len(list) != 2 {
		return l.fail("the interpreter cannot run this comparison")
	}
	r := blank()
	err := l.test(&r, list[1])
	if err != nil {
		return err
	}
	if r.exec = setTo(list[0], r.x.upper != nil); r.exec == nil {
		return l.fail("the interpreter cannot run this comparison")
	}
	if r.d, err = l.dest(&in.Args[0], list[0].Size()); err != nil {
		return err
	}
	l.emit(r, costALU)
	return nil
}

// setTo returns the handler of set for a type of results, or nil. True is all ones for
// integers and 1.0 for floats.
func setTo(typ ptx.Type, packed bool) handler {
	switch {
	case packed && typ == ptx.F16X2:
		return setPacked(uint16(binary16.encode(1, toNearest)))
	case packed && typ == ptx.BF16X2:
		return setPacked(uint16(bfloat16.encode(1, toNearest)))
	case packed && (typ == ptx.U32 || typ == ptx.S32):
		return setPacked(0xffff)
	case packed:
		return nil
	}
	switch typ {
	case ptx.U32, ptx.S32:
		return set[uint32](allLanes)
	case ptx.F32:
		return set(math.Float32bits(1))
	case ptx.U16, ptx.S16:
		return set[uint16](0xffff)
	case ptx.F16:
		return set(half(1))
	case ptx.BF16:
		return set(uint16(bfloat16.encode(1, toNearest)))
	}
	return nil
}

// selp lowers a selection by a predicate. A negated predicate exchanges the sources.
func (l *lowering) selp() error {
	in := l.in
	list := types(in)
	if len(list) != 1 || len(in.Args) != 4 {
		return l.fail("needs a type and four operands")
	}
	r := blank()
	size := registerSize(list[0])
	var err error
	if r.d, err = l.dest(&in.Args[0], size); err != nil {
		return err
	}
	if r.a, err = l.source(&in.Args[1], size, list[0]); err != nil {
		return err
	}
	if r.b, err = l.source(&in.Args[2], size, list[0]); err != nil {
		return err
	}
	var neg bool
	if r.c, neg, err = l.predicate(&in.Args[3]); err != nil {
		return err
	}
	// selp d, a, b, !p is selp d, b, a, p.
	if neg {
		r.a, r.b = r.b, r.a
	}
	r.exec = ops["selp."+bitsType(size)]
	l.emit(r, costALU)
	return nil
}

// slct lowers a selection by the sign of a number.
func (l *lowering) slct() error {
	list := types(l.in)
	if len(list) != 2 {
		return l.fail("needs two types")
	}
	size, key := registerSize(list[0]), list[1].String()
	if has(l.in, "ftz") {
		key += ".ftz"
	}
	exec, ok := ops["slct."+bitsType(size)+"."+key]
	if !ok {
		return l.fail("the interpreter cannot run this instruction")
	}
	return l.registers(exec, costALU, list[0], size, size, size, 4)
}

// predicateResult completes an instruction that tests register a. It is lowered like setp
// with equal operands.
func (l *lowering) predicateResult(size int, typ ptx.Type, f tester) error {
	in := l.in
	if len(in.Args) != 2 {
		return l.fail("needs two operands")
	}
	r := blank()
	r.x = newExtra()
	r.x.test = f
	r.exec = setpOnly
	var err error
	if r.d, err = l.dest(&in.Args[0], 0); err != nil {
		return err
	}
	if r.a, err = l.source(&in.Args[1], size, typ); err != nil {
		return err
	}
	r.b = r.a
	l.emit(r, costALU)
	return nil
}

// testp lowers the tests of "properties". The smallest normal magnitude depends on the
// type.
func (l *lowering) testp() error {
	in := l.in
	list := types(in)
	if len(list) != 1 || len(in.Suffix) != 2 {
		return l.fail("needs a property and a type")
	}
	f := properties[in.Suffix[0]]
	if f == nil {
		return l.fail("property .%s is unknown", in.Suffix[0])
	}
	if list[0] == ptx.F64 {
		return l.predicateResult(8, ptx.F64, liftTest(func(a, _ float64) bool { return f(a, 0x1p-1022) }))
	}
	return l.predicateResult(4, ptx.F32, liftTest(func(a, _ float32) bool { return f(float64(a), 0x1p-126) }))
}

// isspacep lowers the test for the state space of a generic address. It compares the
// address with the windows of shared, local and parameter memory and with the .const
// variables. All other addresses are global.
func (l *lowering) isspacep() error {
	constants := l.mod.constants()
	windows := func(a uint64) ptx.Space {
		switch {
		case a-sharedWindow < windowSize:
			return ptx.Shared
		case a-localWindow < windowSize:
			return ptx.Local
		case a-paramWindow < windowSize:
			return ptx.ParamSpace
		}
		for _, c := range constants {
			if a-c[0] < c[1] {
				return ptx.Const
			}
		}
		return ptx.Global
	}
	space := spaceOf(l.in)
	return l.predicateResult(8, ptx.U64, liftTest(func(a, _ uint64) bool { return windows(a) == space }))
}
