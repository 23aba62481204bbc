package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// copyelim removes copies whose destination already holds the bytes of the source: repeated copies of
// unchanged data, and round trips.
//
//	copy @x to @h ─► read @h ─► copy @h to @x      @x is unchanged, so that the second copy is removed
//
// It is value numbering by byte range. At the start of a replay each buffer holds a value of its own.
// A copy gives the destination the values of the source; any other write gives it a new value.
// Nothing is assumed to survive from one replay to the next, because the program may write between
// them.
//
// Therefore the upload of a constant stays in every replay; an unrolled program keeps one of its
// copies. The upload could be done once, at instantiation, only if no write could reach its
// destination afterwards, and no role guarantees this: a temporary is dead between replays, the
// program may write all other buffers then, and constants cannot be written by a copy. To upload
// once, copy before the trace.
func copyelim(g *ir.Graph) (*ir.Graph, error) {
	if g.Phase >= ir.Analyzed {
		return g, nil
	}
	known := newContents(g)
	drop := make([]bool, g.Len())
	var scratch [2]ir.Access
	for v := range g.Ops {
		op := &g.Ops[v]
		switch op.Kind {
		case ir.KindCopy:
			drop[v] = known.copy(op.Copy)
		case ir.KindPrefetch: // changes no bytes
		default:
			accesses := op.Accesses(&scratch)
			for _, a := range accesses {
				if a.Mode.Writes() && !a.Empty() {
					known.renew(a.Range)
				}
			}
		}
	}
	return withoutOps(g, drop), nil
}

// contents holds, by buffer, its values in ascending order of offset and without gaps.
type contents struct {
	rows [][]value
	next int32 // the number of the next value
}

// value is a range of a buffer: byte x, for lo <= x < hi, equals byte x+shift of the value called number.
type value struct {
	lo, hi int64
	number int32
	shift  int64
}

func newContents(g *ir.Graph) *contents {
	c := &contents{rows: make([][]value, len(g.Buffers))}
	for b := range c.rows {
		if size := g.Buffers[b].Size(); size > 0 {
			c.rows[b] = []value{{hi: size, number: c.next}}
		}
		c.next++
	}
	return c
}

// copy gives a destination the values of its source, and reports whether it already had them.
func (c *contents) copy(op *ir.Copy) bool {
	if op.Dst.Empty() {
		return true
	}
	moved := c.part(op.Src)
	for i := range moved {
		m := &moved[i]
		m.lo, m.hi = m.lo-op.Src.Lo+op.Dst.Lo, m.hi-op.Src.Lo+op.Dst.Lo
		m.shift += op.Src.Lo - op.Dst.Lo
	}
	moved = joined(moved)
	if slices.Equal(moved, joined(c.part(op.Dst))) {
		return true
	}
	c.set(op.Dst, moved)
	return false
}

// renew gives a range a new value.
func (c *contents) renew(r ir.Range) {
	c.set(r, []value{{lo: r.Lo, hi: r.Hi, number: c.next}})
	c.next++
}

// find returns the index of the first value that ends after a byte.
func find(row []value, at int64) int {
	i, _ := slices.BinarySearchFunc(row, at, func(v value, at int64) int {
		if v.hi <= at {
			return -1
		}
		return 1
	})
	return i
}

// part returns the values of a range, clipped to it.
func (c *contents) part(r ir.Range) []value {
	row := c.rows[r.Buffer]
	i, j := find(row, r.Lo), find(row, r.Hi-1)
	part := slices.Clone(row[i : j+1])
	part[0].lo = r.Lo
	part[len(part)-1].hi = r.Hi
	return part
}

// set replaces the values of a range.
func (c *contents) set(r ir.Range, values []value) {
	row := c.rows[r.Buffer]
	i, j := find(row, r.Lo), find(row, r.Hi-1)
	first, last := row[i], row[j]
	if first.lo < r.Lo {
		first.hi = r.Lo
		values = append([]value{first}, values...)
	}
	if r.Hi < last.hi {
		last.lo = r.Hi
		values = append(values, last)
	}
	c.rows[r.Buffer] = slices.Replace(row, i, j+1, values...)
}

// joined merges adjacent ranges of the same value, in place.
func joined(values []value) []value {
	one := values[:1]
	for _, v := range values[1:] {
		if last := &one[len(one)-1]; v.number == last.number && v.shift == last.shift {
			last.hi = v.hi
		} else {
			one = append(one, v)
		}
	}
	return one
}
