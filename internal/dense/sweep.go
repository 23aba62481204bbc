package dense

// Sweep computes which nodes reach up to BlockBits targets at a time. It holds one block for each
// node that an edge can span, so for short edges it fits a cache.
type Sweep struct {
	d    *Graph
	ring ring[Block]
}

// NewSweep returns a sweep over d.
func NewSweep(d *Graph) *Sweep { return &Sweep{d, newRing[Block](d.span())} }

// Run calls visit for each node from the last of the targets, which are in ascending order, down to
// low, with the indices of the targets that its edges lead to. The block is valid during the call.
func (s *Sweep) Run(targets []int32, low int32, visit func(v int32, reached *Block)) {
	last := targets[len(targets)-1]
	left := len(targets) - 1
	for v := last; v >= low; v-- {
		own := s.ring.at(v)
		*own = Block{}
		for _, w := range s.d.Succs(v) {
			if w > last {
				break
			}
			own.Or(s.ring.at(w))
		}
		visit(v, own)
		if left >= 0 && targets[left] == v {
			own.Add(int32(left))
			left--
		}
	}
}
