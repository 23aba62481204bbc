package validation

import "encoding/binary"

// xorshift is the generator xorshift64 (G. Marsaglia, "Xorshift RNGs", 2003) with the seed of that paper.
type xorshift uint64

const xorshiftSeed xorshift = 88172645463325252

func (x *xorshift) next() uint64 {
	*x ^= *x << 13
	*x ^= *x >> 7
	*x ^= *x << 17
	return uint64(*x)
}

// fillRandom writes random words, two at a time; the last word of an odd number stays zero.
func fillRandom(data []byte, _ uint64) {
	x := xorshiftSeed
	for i := 0; i+8 <= len(data); i += 8 {
		binary.LittleEndian.PutUint64(data[i:], x.next())
	}
}

// fillChain writes into each place the address of another, so that the places form one cycle in random order. The
// order is a shuffle (Fisher and Yates) that keeps the first place first. base is the address of the buffer.
func fillChain(data []byte, base uint64) {
	order := make([]uint64, len(data)/chainStride)
	for i := range order {
		order[i] = uint64(i)
	}
	x := xorshiftSeed
	for i := len(order) - 1; i > 1; i-- {
		j := 1 + x.next()%uint64(i)
		order[i], order[j] = order[j], order[i]
	}
	for i, at := range order {
		next := order[(i+1)%len(order)]
		binary.LittleEndian.PutUint64(data[chainStride*at:], base+chainStride*next)
	}
}
