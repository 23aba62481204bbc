package optimizer

import "math/bits"

// bitset is a dense set of small integers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (s bitset) has(i int) bool { return s[i>>6]>>(i&63)&1 != 0 }
func (s bitset) set(i int)      { s[i>>6] |= 1 << (i & 63) }
func (s bitset) clear(i int)    { s[i>>6] &^= 1 << (i & 63) }

// count is the number of members.
func (s bitset) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// subtract takes the members of t, equally long, out of s.
func (s bitset) subtract(t bitset) {
	for k := range s {
		s[k] &^= t[k]
	}
}

// fill makes s the set of all integers below n.
func (s bitset) fill(n int) {
	for k := range s {
		s[k] = ^uint64(0)
	}
	if n&63 != 0 {
		s[len(s)-1] >>= 64 - n&63
	}
}

// nextIn is the least member of both s and t, equally long, that is not below
// i, or -1.
func (s bitset) nextIn(t bitset, i int) int {
	k := i >> 6
	if k >= len(s) {
		return -1
	}
	if w := (s[k] & t[k]) >> (i & 63); w != 0 {
		return i + bits.TrailingZeros64(w)
	}
	for k++; k < len(s); k++ {
		if w := s[k] & t[k]; w != 0 {
			return k<<6 + bits.TrailingZeros64(w)
		}
	}
	return -1
}

// next is the least member that is not below i, or -1.
func (s bitset) next(i int) int {
	if i>>6 >= len(s) {
		return -1
	}
	if w := s[i>>6] >> (i & 63); w != 0 {
		return i + bits.TrailingZeros64(w)
	}
	for k := i>>6 + 1; k < len(s); k++ {
		if s[k] != 0 {
			return k<<6 + bits.TrailingZeros64(s[k])
		}
	}
	return -1
}

// prev is the greatest member that is not above i, or -1.
func (s bitset) prev(i int) int {
	if w := s[i>>6] << (63 - i&63); w != 0 {
		return i - bits.LeadingZeros64(w)
	}
	for k := i>>6 - 1; k >= 0; k-- {
		if s[k] != 0 {
			return k<<6 + 63 - bits.LeadingZeros64(s[k])
		}
	}
	return -1
}
