package optimizer

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// rotate has buffers of an unrolled program change places from copy to copy: where one uses a
// buffer the next uses the one that is named behind it, and the first in place of the last.
// With two that is ping-pong, and a leapfrog scheme has three:
//
//	rotate(a:b)      step reads a, writes b  ─►  step reads b, writes a  ─►  ...
//
// The next replay begins with the buffers where the first copy had them, so the number of copies
// has to be a multiple of that of the buffers. Whoever knows the memory of one by other means than an
// operand would not notice, so there must be none.
func rotate(names []string) func(*ir.Graph) (*ir.Graph, error) {
	return func(g *ir.Graph) (*ir.Graph, error) {
		ring, err := ringOf(g, names)
		if err != nil {
			return nil, err
		}
		starts := copies(g)
		if k := len(starts) - 1; k%len(ring) != 0 {
			return nil, fmt.Errorf("%d buffers are not where they were after %d copies: unroll a multiple of %d", len(ring), k, len(ring))
		}
		h := *g
		h.Ops = slices.Clone(g.Ops)
		for i := range starts[1:] {
			for v := starts[i]; v < starts[i+1]; v++ {
				h.Ops[v] = substituted(g.Ops[v], func(b ir.BufferID) ir.BufferID {
					if at := slices.Index(ring, b); at >= 0 {
						return ring[(at+i)%len(ring)]
					}
					return b
				})
			}
		}
		return &h, nil
	}
}

// ringOf finds the buffers, which must be able to take each other's places.
func ringOf(g *ir.Graph, names []string) ([]ir.BufferID, error) {
	known := make([]string, len(g.Buffers))
	for b := range g.Buffers {
		known[b] = g.Buffers[b].Name
	}
	operand := onlyOperands(g)
	ring := make([]ir.BufferID, len(names))
	for i, name := range names {
		at := slices.Index(known, name)
		if at < 0 {
			return nil, fmt.Errorf("%s has no buffer @%s%s", g.Name, name, didYouMean(name, known))
		}
		ring[i] = ir.BufferID(at)
		first, this := &g.Buffers[ring[0]], &g.Buffers[at]
		switch {
		case slices.Contains(ring[:i], ring[i]):
			return nil, fmt.Errorf("@%s is named twice: name every buffer once", name)
		case this.Role == ir.Constant:
			return nil, fmt.Errorf("@%s is constant: only what is written can change places", name)
		case !operand[at]:
			return nil, fmt.Errorf("@%s is used by a host call, or by a kernel that is not passed it: these go on with the memory that they know", name)
		case this.Elem != first.Elem || this.Len != first.Len || this.Place != first.Place:
			return nil, fmt.Errorf("@%s is not of the type, the length and the place of @%s: only equal buffers can change places", name, first.Name)
		}
	}
	return ring, nil
}
