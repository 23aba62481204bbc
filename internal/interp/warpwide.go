package interp

import "math/bits"

// Operations across the lanes of a warp. They run after all lanes of the member mask
// have arrived: w.live contains the lanes that take part.

// shuffle modes.
const (
	shuffleUp uint8 = iota
	shuffleDown
	shuffleXor
	shuffleIndex
)

// shuffleModes are the modes by their suffix.
var shuffleModes = map[string]uint8{"up": shuffleUp, "down": shuffleDown, "bfly": shuffleXor, "idx": shuffleIndex}

// source returns the lane that lane i of a shuffle reads, and whether it is inside its
// segment. c packs a clamp in bits 4:0 and a segment mask in bits 12:8:
//
//	mode    lane read          valid if
//	up      i - b              at least the clamp of the segment
//	down    i + b              at most the clamp
//	bfly    i ^ b              at most the clamp
//	idx     b in the segment   at most the clamp
func source(mode uint8, i, b, c uint32) (j uint32, ok bool) {
	b &= 31
	clamp, segment := c&31, c>>8&31
	top := i&segment | clamp&^segment
	bottom := i & segment
	switch mode {
	case shuffleUp:
		j = i - b
		return j, int32(j) >= int32(top)
	case shuffleDown:
		j = i + b
	case shuffleXor:
		j = i ^ b
	case shuffleIndex:
		j = bottom | b&^segment
	}
	return j, j <= top
}

// shuffle is shfl.sync. An invalid source gives the lane's own value and false. The
// value of a lane that does not take part is undefined; on a GPU as here it is 0, and
// some programs rely on it (reduce7 of NVIDIA's samples).
func shuffle(w *warp, in *inst) {
	a := *view[uint32](w, in.a)
	b, c := view[uint32](w, in.b), view[uint32](w, in.c)
	var valid uint32
	for m := w.live; m != 0; m &= m - 1 {
		i := uint32(bits.TrailingZeros32(m) & 31)
		j, ok := source(in.x.mode, i, b[i], c[i])
		if ok {
			valid |= 1 << i
		} else {
			j = i
		}
		v := a[j&31]
		if w.live>>(j&31)&1 == 0 {
			v = 0
			w.eng.undefinedShuffle(w, in, int(i), int(j&31))
		}
		if in.d != noSlot {
			view[uint32](w, in.d)[i] = v
		}
	}
	w.setPred(in.x.d2, valid)
}

// voters counts the live lanes whose predicate is true.
func (in *inst) voters(w *warp) uint32 { return w.getPred(in.x.p, in.x.pNeg) & w.live }

// voteAll is true if the predicate is in all live lanes.
func voteAll(w *warp, in *inst) { w.setPred(in.d, maskOf(in.voters(w) == w.live)) }

// voteAny is true if the predicate is in any live lane.
func voteAny(w *warp, in *inst) { w.setPred(in.d, maskOf(in.voters(w) != 0)) }

// voteBallot returns the mask of live lanes with the predicate.
func voteBallot(w *warp, in *inst) { w.broadcast(in.d, in.voters(w)) }

// voteUniform is true if the predicate has one value in all live lanes.
func voteUniform(w *warp, in *inst) {
	v := in.voters(w)
	w.setPred(in.d, maskOf(v == 0 || v == w.live))
}

// maskOf returns a mask of all lanes or none.
func maskOf(v bool) uint32 {
	if v {
		return allLanes
	}
	return 0
}

// broadcast stores v into the live lanes of a 32-bit register.
func (w *warp) broadcast(d slot, v uint32) {
	r := view[uint32](w, d)
	each(w.live, func(i int) { r[i] = v })
}

// activeMask returns the mask of live lanes.
func activeMask(w *warp, in *inst) { w.broadcast(in.d, w.live) }

// matchAny gives each lane the mask of the live lanes with the same value.
func matchAny[T unsigned](w *warp, in *inst) {
	d, a := view[uint32](w, in.d), *view[T](w, in.a)
	each(w.live, func(i int) { d[i] = same(w.live, &a, a[i]) })
}

// matchAll returns the mask of all live lanes if their values are equal, else 0, and a
// predicate for which case it is.
func matchAll[T unsigned](w *warp, in *inst) {
	a := *view[T](w, in.a)
	m := same(w.live, &a, a[bits.TrailingZeros32(w.live)&31])
	w.broadcast(in.d, choose(m == w.live, m, 0))
	w.setPred(in.x.d2, maskOf(m == w.live))
}

// same returns the lanes of mask whose value is v.
func same[T unsigned](mask uint32, a *[lanes]T, v T) (m uint32) {
	each(mask, func(i int) {
		if a[i] == v {
			m |= 1 << i
		}
	})
	return m
}

// redux folds the live lanes of a 32-bit register.
func redux(f func(a, b uint32) uint32) handler {
	return func(w *warp, in *inst) {
		a := view[uint32](w, in.a)
		v := a[bits.TrailingZeros32(w.live)&31]
		each(w.live&(w.live-1), func(i int) { v = f(v, a[i]) })
		w.broadcast(in.d, v)
	}
}

// reduxOps are the operations of redux, by operation and type.
var reduxOps = map[string]func(a, b uint32) uint32{
	"add.u32": func(a, b uint32) uint32 { return a + b },
	"add.s32": func(a, b uint32) uint32 { return a + b },
	"min.u32": func(a, b uint32) uint32 { return min(a, b) },
	"max.u32": func(a, b uint32) uint32 { return max(a, b) },
	"min.s32": func(a, b uint32) uint32 { return uint32(min(int32(a), int32(b))) },
	"max.s32": func(a, b uint32) uint32 { return uint32(max(int32(a), int32(b))) },
	"and.b32": func(a, b uint32) uint32 { return a & b },
	"or.b32":  func(a, b uint32) uint32 { return a | b },
	"xor.b32": func(a, b uint32) uint32 { return a ^ b },
}

// electFirst gives all lanes the number of the first lane, and a predicate that is true
// in that lane.
func electFirst(w *warp, in *inst) {
	leader := firstLane(w.live)
	if in.d != noSlot {
		w.broadcast(in.d, uint32(leader))
	}
	w.setPred(in.x.d2, 1<<leader)
}

// syncOnly is the body of bar.warp.sync, which only waits.
func syncOnly(*warp, *inst) {}
