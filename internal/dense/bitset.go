package dense

import "math/bits"

// Set is a bitset of integers from 0.
type Set []uint64

// NewSet returns an empty set for integers below n.
func NewSet(n int) Set { return make(Set, (n+63)/64) }

// Has reports whether i is a member.
func (s Set) Has(i int) bool { return s[i>>6]>>(i&63)&1 != 0 }

// Add adds i.
func (s Set) Add(i int) { s[i>>6] |= 1 << (i & 63) }

// Remove removes i.
func (s Set) Remove(i int) { s[i>>6] &^= 1 << (i & 63) }

// Count returns the number of members.
func (s Set) Count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Unite adds the members of t, which is as long as s.
func (s Set) Unite(t Set) {
	for k, w := range t {
		s[k] |= w
	}
}

// Subtract removes the members of t, which is as long as s.
func (s Set) Subtract(t Set) {
	for k := range s {
		s[k] &^= t[k]
	}
}

// Fill makes s, a set for integers below n, hold all of them. Bits at n and above stay 0.
func (s Set) Fill(n int) {
	for k := range s {
		s[k] = ^uint64(0)
	}
	if n&63 != 0 {
		s[len(s)-1] >>= 64 - n&63
	}
}

// NextIn returns the least member of both s and t, which are equally long, that is at least i; -1 if
// there is none.
func (s Set) NextIn(t Set, i int) int {
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

// Next returns the least member that is at least i, -1 if there is none.
func (s Set) Next(i int) int {
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

// Prev returns the greatest member that is at most i, -1 if there is none.
func (s Set) Prev(i int) int {
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
