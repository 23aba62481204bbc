package optimizer

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/phrase"
	"github.com/reprise-gpu/reprise/internal/sentinel"
	"github.com/reprise-gpu/reprise/ir"
)

// rotate exchanges buffers of an unrolled program from copy to copy: where one copy uses a buffer, the
// next copy uses the following one in the list, and the first buffer follows the last.
// Two buffers are ping-pong; a leapfrog scheme has three:
//
//	rotate(a:b)      step reads a, writes b  ─►  step reads b, writes a  ─►  ...
//
// The next replay starts with the buffers in their original places, so that the number of copies
// must be a multiple of the number of buffers. The buffers must be accessed only through operands,
// which are what the pass replaces.
func rotate(names []string) func(*ir.Graph) (*ir.Graph, error) {
	return func(g *ir.Graph) (*ir.Graph, error) {
		ring, err := ringOf(g, names)
		if err != nil {
			return nil, err
		}
		starts := copies(g)
		if k := len(starts) - 1; k%len(ring) != 0 {
			return nil, fmt.Errorf("%d buffers do not return to their places after %d copies: unroll a multiple of %d", len(ring), k, len(ring))
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

// ringOf returns the named buffers. They must be interchangeable: of one type, length and memory.
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
			return nil, sentinel.Errorf(sentinel.ErrUnknown, "%s has no buffer @%s%s", g.Name, name, phrase.DidYouMean(name, known))
		}
		ring[i] = ir.BufferID(at)
		first, this := &g.Buffers[ring[0]], &g.Buffers[at]
		switch {
		case slices.Contains(ring[:i], ring[i]):
			return nil, fmt.Errorf("@%s is named twice: name every buffer once", name)
		case this.Role == ir.Constant:
			return nil, fmt.Errorf("@%s is constant: rotate only buffers that are written", name)
		case !operand[at]:
			return nil, fmt.Errorf("@%s is used by a host call, or by a kernel through a pointer that is not an argument: it cannot be rotated", name)
		case this.Elem != first.Elem || this.Len != first.Len || this.Place != first.Place:
			return nil, fmt.Errorf("@%s differs from @%s in type, length or place: rotate only equal buffers", name, first.Name)
		}
	}
	return ring, nil
}
