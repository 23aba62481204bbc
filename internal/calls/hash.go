package calls

import "math/bits"

// Hash is a hash of numbers, in order: Hash(1).Add(a).Add(b).
type Hash uint64

// Add returns the hash of one more number.
func (h Hash) Add(v uint64) Hash {
	return Hash(bits.RotateLeft64(uint64(h)^v*0x9e3779b97f4a7c15, 29) * 0xbf58476d1ce4e5b9)
}

// AddTo returns h with a shape added. Within the limits of CUDA no two extents share bits of a word, so that shapes which
// differ in one word never collide: a grid has less than 2^16 blocks in y and z, a block at most 1024 threads and 64 in z.
func (s *Shape) AddTo(h Hash) Hash {
	h = h.Add(uint64(s.Grid.X) ^ uint64(s.Grid.Y)<<32 ^ uint64(s.Grid.Z)<<48)
	return h.Add(uint64(s.Block.X) ^ uint64(s.Block.Y)<<12 ^ uint64(s.Block.Z)<<24 ^ uint64(s.Shared)<<32)
}
