package interp

import "math/bits"

// bitmap has one bit for each byte of an allocation.
type bitmap []uint64

// bitmapWords returns the number of words for the bits of some bytes.
func bitmapWords(bytes uint64) int { return int((bytes + 63) / 64) }

// set sets the bits of bytes [lo, hi).
func (b bitmap) set(lo, hi uint64) {
	eachWord(lo, hi, func(i, m uint64) { b[i] |= m })
}

// eachWord calls f for every word that contains bits of [lo, hi), with the mask of
// those bits. It is small enough to be inlined with its f.
func eachWord(lo, hi uint64, f func(i, m uint64)) {
	for lo < hi {
		i := lo >> 6
		end := min((i+1)<<6, hi)
		f(i, ^uint64(0)>>(64-(end-lo))<<(lo&63))
		lo = end
	}
}

// Span is a range of addresses [Lo, Hi).
type Span struct{ Lo, Hi uint64 }

// spans appends the runs of set bits, which it finds word by word. base is the address
// of bit 0, and word(i) returns word i, for i in [first, end).
func spans(to []Span, base uint64, first, end int, word func(i int) uint64) []Span {
	for i := first; i < end; i++ {
		v := word(i)
		at := base + uint64(i)*64
		for v != 0 {
			skip := bits.TrailingZeros64(v)
			n := bits.TrailingZeros64(^(v >> skip))
			lo := at + uint64(skip)
			hi := lo + uint64(n)
			if k := len(to); k > 0 && to[k-1].Hi == lo {
				to[k-1].Hi = hi
			} else {
				to = append(to, Span{lo, hi})
			}
			if skip+n >= 64 {
				break
			}
			v &= ^uint64(0) << (skip + n)
		}
	}
	return to
}
