package input

import "hash/fnv"

// Sequence is the numbers of one array: those of SplitMix64 (G. L. Steele Jr., D.
// Lea, C. H. Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014) from
// a seed, each computed from its index.
type Sequence uint64

// Of is the sequence of an array, "vec/x" for x of vec, under the user's seed.
func Of(array string, seed uint64) Sequence {
	h := fnv.New64a()
	h.Write([]byte(array))
	return Sequence(h.Sum64() ^ mix(seed))
}

// Uint64 is number i, counted from 0.
func (s Sequence) Uint64(i int) uint64 {
	return mix(uint64(s) + (uint64(i)+1)*0x9E3779B97F4A7C15)
}

// Float32 is uniform on [0, 1), a multiple of 2^-24.
func (s Sequence) Float32(i int) float32 { return float32(s.Uint64(i)>>40) / (1 << 24) }

// Float64 is uniform on [0, 1), a multiple of 2^-53.
func (s Sequence) Float64(i int) float64 { return float64(s.Uint64(i)>>11) / (1 << 53) }

// Below is uniform on 0 to n-1.
func (s Sequence) Below(i int, n uint32) uint32 {
	return uint32((s.Uint64(i) >> 32) * uint64(n) >> 32)
}

// mix is the output function of SplitMix64, a bijection.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
