package interp

import "math/bits"

// A scalar function becomes a handler by lifting it over the live lanes. The
// call through f costs about 2 ns per lane; the operations that fill inner
// loops have handlers of their own in hot.go.

// lift1 lifts a function of one source.
func lift1[D, A any](f func(A) D) handler {
	return func(w *warp, in *inst) {
		d, a := view[D](w, in.d), view[A](w, in.a)
		if w.live == allLanes {
			for i := range lanes {
				d[i] = f(a[i])
			}
			return
		}
		for m := w.live; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = f(a[i])
		}
	}
}

// lift2 lifts a function of two sources.
func lift2[D, A, B any](f func(A, B) D) handler {
	return func(w *warp, in *inst) {
		d, a, b := view[D](w, in.d), view[A](w, in.a), view[B](w, in.b)
		if w.live == allLanes {
			for i := range lanes {
				d[i] = f(a[i], b[i])
			}
			return
		}
		for m := w.live; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = f(a[i], b[i])
		}
	}
}

// lift3 lifts a function of three sources.
func lift3[D, A, B, C any](f func(A, B, C) D) handler {
	return func(w *warp, in *inst) {
		d, a, b, c := view[D](w, in.d), view[A](w, in.a), view[B](w, in.b), view[C](w, in.c)
		if w.live == allLanes {
			for i := range lanes {
				d[i] = f(a[i], b[i], c[i])
			}
			return
		}
		for m := w.live; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = f(a[i], b[i], c[i])
		}
	}
}

// liftTest lifts a comparison to a mask over all lanes. Comparing lanes that are not
// live is harmless and saves a branch per lane.
func liftTest[A any](f func(a, b A) bool) func(w *warp, in *inst) uint32 {
	return func(w *warp, in *inst) (m uint32) {
		a, b := view[A](w, in.a), view[A](w, in.b)
		for i := range lanes {
			m >>= 1
			if f(a[i], b[i]) {
				m |= 1 << 31
			}
		}
		return m
	}
}
