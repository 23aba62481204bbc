package interp

import "math/bits"

// The operations of the inner loops of numeric kernels are written out here, so that
// the compiler inlines them into the loop over lanes. This costs about
// a third of a call per lane through lift2.

// addHot replaces entries of the table. Each handler has two loops: one over all lanes,
// without a bit scan for each, and one over the live lanes.
func addHot(t opTable) {
	for _, typ := range []string{"s32", "u32"} {
		t["add."+typ], t["sub."+typ] = addLanes[uint32], subLanes[uint32]
		t["mul.lo."+typ], t["mad.lo."+typ] = mulLanes[uint32], madLanes[uint32]
	}
	for _, typ := range []string{"s64", "u64"} {
		t["add."+typ], t["sub."+typ] = addLanes[uint64], subLanes[uint64]
		t["mul.lo."+typ], t["mad.lo."+typ] = mulLanes[uint64], madLanes[uint64]
	}
	t["add.rn.f32.0"], t["sub.rn.f32.0"], t["mul.rn.f32.0"] = addLanes[float32], subLanes[float32], mulLanes[float32]
	t["add.rn.f64.0"], t["sub.rn.f64.0"], t["mul.rn.f64.0"] = addLanes[float64], subLanes[float64], mulLanes[float64]
	t["fma.rn.f32.0"], t["mad.rn.f32.0"] = fmaLanes, fmaLanes
	t["and.b32"], t["shl.b32"] = andLanes[uint32], shlLanes[uint32]
	t["and.b64"], t["shl.b64"] = andLanes[uint64], shlLanes[uint64]
	t["mul.wide.s32"], t["mul.wide.u32"] = wideLanes[int32, int64], wideLanes[uint32, uint64]
	t["mov.b32"], t["mov.b64"] = movLanes[uint32], movLanes[uint64]
}

// number is a lane type with + and *.
type number interface {
	uint32 | uint64 | float32 | float64
}

// addLanes is add.
func addLanes[T number](w *warp, in *inst) {
	d, a, b := view[T](w, in.d), view[T](w, in.a), view[T](w, in.b)
	if w.live == allLanes {
		for i := range lanes {
			d[i] = a[i] + b[i]
		}
		return
	}
	for m := w.live; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] + b[i]
	}
}

// subLanes is sub.
func subLanes[T number](w *warp, in *inst) {
	d, a, b := view[T](w, in.d), view[T](w, in.a), view[T](w, in.b)
	if w.live == allLanes {
		for i := range lanes {
			d[i] = a[i] - b[i]
		}
		return
	}
	for m := w.live; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] - b[i]
	}
}

// mulLanes is mul, of integers the low half.
func mulLanes[T number](w *warp, in *inst) {
	d, a, b := view[T](w, in.d), view[T](w, in.a), view[T](w, in.b)
	if w.live == allLanes {
		for i := range lanes {
			d[i] = a[i] * b[i]
		}
		return
	}
	for m := w.live; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] * b[i]
	}
}

// madLanes is mad.lo.
func madLanes[T uint32 | uint64](w *warp, in *inst) {
	d, a, b, c := view[T](w, in.d), view[T](w, in.a), view[T](w, in.b), view[T](w, in.c)
	if w.live == allLanes {
		for i := range lanes {
			d[i] = a[i]*b[i] + c[i]
		}
		return
	}
	for m := w.live; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i]*b[i] + c[i]
	}
}

// fmaLanes contains the fast path of fma32, which is too large to be inlined.
func fmaLanes(w *warp, in *inst) {
	d, a, b, c := view[float32](w, in.d), view[float32](w, in.a), view[float32](w, in.b), view[float32](w, in.c)
	if w.live == allLanes {
		for i := range lanes {
			p, q := float64(a[i])*float64(b[i]), float64(c[i])
			s := p + q
			if roundsOnce(s) {
				d[i] = float32(s)
			} else {
				d[i] = float32(sumToOdd(p, q))
			}
		}
		return
	}
	for m := w.live; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = fma32(a[i], b[i], c[i])
	}
}

// andLanes is and.
func andLanes[T uint32 | uint64](w *warp, in *inst) {
	d, a, b := view[T](w, in.d), view[T](w, in.a), view[T](w, in.b)
	if w.live == allLanes {
		for i := range lanes {
			d[i] = a[i] & b[i]
		}
		return
	}
	for m := w.live; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] & b[i]
	}
}

// shlLanes is shl: shifts by the width or more give 0, as in Go.
func shlLanes[T uint32 | uint64](w *warp, in *inst) {
	d, a, n := view[T](w, in.d), view[T](w, in.a), view[uint32](w, in.b)
	if w.live == allLanes {
		for i := range lanes {
			d[i] = a[i] << n[i]
		}
		return
	}
	for m := w.live; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] << n[i]
	}
}

// wideLanes is mul.wide.
func wideLanes[T int32 | uint32, W int64 | uint64](w *warp, in *inst) {
	d, a, b := view[W](w, in.d), view[T](w, in.a), view[T](w, in.b)
	if w.live == allLanes {
		for i := range lanes {
			d[i] = W(a[i]) * W(b[i])
		}
		return
	}
	for m := w.live; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = W(a[i]) * W(b[i])
	}
}

// movLanes is mov.
func movLanes[T uint32 | uint64](w *warp, in *inst) {
	d, a := view[T](w, in.d), view[T](w, in.a)
	if w.live == allLanes {
		*d = *a
		return
	}
	for m := w.live; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i]
	}
}

// addHotTests replaces comparisons of the most frequent types.
func addHotTests(t map[string]tester) {
	hotInteger[int32](t, "s32")
	hotInteger[uint32](t, "u32")
	t["eq.b32"], t["ne.b32"] = t["eq.u32"], t["ne.u32"]
	t["lt.f32"], t["le.f32"] = lessLanes[float32](false), lessEqualLanes[float32](false)
	t["gt.f32"], t["ge.f32"] = lessLanes[float32](true), lessEqualLanes[float32](true)
}

// hotInteger registers the comparisons of a 32-bit integer type.
func hotInteger[T int32 | uint32](t map[string]tester, typ string) {
	t["eq."+typ] = equalLanes[T]
	t["ne."+typ] = func(w *warp, in *inst) uint32 { return ^equalLanes[T](w, in) }
	t["lt."+typ], t["le."+typ] = lessLanes[T](false), lessEqualLanes[T](false)
	t["gt."+typ], t["ge."+typ] = lessLanes[T](true), lessEqualLanes[T](true)
	t["lo."+typ], t["ls."+typ] = t["lt."+typ], t["le."+typ]
	t["hi."+typ], t["hs."+typ] = t["gt."+typ], t["ge."+typ]
}

// The comparisons shift the result bits in from the top, by a constant and without a branch
// in the loop. They compare all lanes: the caller ignores those that are not live.

// equalLanes returns the mask of lanes with a == b.
func equalLanes[T int32 | uint32](w *warp, in *inst) (m uint32) {
	a, b := view[T](w, in.a), view[T](w, in.b)
	for i := range lanes {
		var v uint32
		if a[i] == b[i] {
			v = 1 << 31
		}
		m = m>>1 | v
	}
	return m
}

// lessLanes returns the comparison a < b, or b < a with swap.
func lessLanes[T int32 | uint32 | float32](swap bool) tester {
	return func(w *warp, in *inst) (m uint32) {
		a, b := view[T](w, in.a), view[T](w, in.b)
		if swap {
			a, b = b, a
		}
		for i := range lanes {
			var v uint32
			if a[i] < b[i] {
				v = 1
			}
			m = m>>1 | v<<31
		}
		return m
	}
}

// lessEqualLanes returns the comparison a <= b, or b <= a with swap.
func lessEqualLanes[T int32 | uint32 | float32](swap bool) tester {
	return func(w *warp, in *inst) (m uint32) {
		a, b := view[T](w, in.a), view[T](w, in.b)
		if swap {
			a, b = b, a
		}
		for i := range lanes {
			var v uint32
			if a[i] <= b[i] {
				v = 1
			}
			m = m>>1 | v<<31
		}
		return m
	}
}
