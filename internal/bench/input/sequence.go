package input

import "hash/fnv"

// Sequence generates the numbers of one array by SplitMix64 (G. L. Steele Jr., D. Lea, C. H. Flood: Fast Splittable
// Pseudorandom Number Generators, OOPSLA 2014), each computed from the seed and its index.
type Sequence uint64

// Of returns the sequence of an array for a seed. The array is named "vec/x" for x of vec.
func Of(array string, seed uint64) Sequence {
	h := fnv.New64a()
	h.Write([]byte(array))
	return Sequence(h.Sum64() ^ mix(seed))
}

// Uint64 returns number i, counted from 0.
func (s Sequence) Uint64(i int) uint64 {
	return mix(uint64(s) + (uint64(i)+1)*0x9E3779B97F4A7C15)
}

// Float32 returns number i, uniform on [0, 1), a multiple of 2^-24.
func (s Sequence) Float32(i int) float32 { return float32(s.Uint64(i)>>40) / (1 << 24) }

// Float64 returns number i, uniform on [0, 1), a multiple of 2^-53.
func (s Sequence) Float64(i int) float64 { return float64(s.Uint64(i)>>11) / (1 << 53) }

// Below returns number i, uniform on 0 to n-1.
func (s Sequence) Below(i int, n uint32) uint32 {
	return uint32((s.Uint64(i) >> 32) * uint64(n) >> 32)
}

// mix is the output function of SplitMix64, a bijection.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
