package dense

// BlockBits is the capacity of a Block: 512 bits fill a cache line.
const BlockBits = 512

// Block is a bitset of the integers below BlockBits, such as the columns of one sweep.
type Block [BlockBits / 64]uint64

// Has reports whether i is a member.
func (b *Block) Has(i int32) bool { return b[i>>6]>>(i&63)&1 != 0 }

// Add adds i.
func (b *Block) Add(i int32) { b[i>>6] |= 1 << (i & 63) }

// Or adds the members of o.
func (b *Block) Or(o *Block) {
	for i := range b {
		b[i] |= o[i]
	}
}

// And removes what is not a member of o.
func (b *Block) And(o *Block) {
	for i := range b {
		b[i] &= o[i]
	}
}

// HasAll reports whether all of these are members.
func (b *Block) HasAll(members []int32) bool {
	for _, i := range members {
		if !b.Has(i) {
			return false
		}
	}
	return true
}

// Empty reports whether there is no member.
func (b *Block) Empty() bool { return *b == Block{} }
