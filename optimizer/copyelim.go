package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// copyelim leaves out copies that change nothing, because the destination holds the bytes
// of the source already: copies made again of what has not changed, and round trips.
//
//	copy @x to @h ─► read @h ─► copy @h to @x      @h and @x are as they were: the second goes
//
// It numbers values by byte: a buffer holds what the replay found in it until something
// writes there, a copy gives the destination the numbers of the source, and any other
// write is of new ones. What a replay finds may differ from what the one before left, so
// nothing is known from one to the next.
//
// So the upload of a constant stays in every replay, and goes but for the first from an unrolled
// program. It could be made once, when the schedule is instantiated, if its destination were sure to be left
// alone, and no role says so: a temporary is dead between replays, the program may set all others
// then, and what is constant cannot be copied to. Who wants it once copies it before the trace.
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
		case ir.KindPrefetch: // moves, and changes nothing
		default:
			accesses := op.Accesses(&scratch)
			for _, a := range accesses {
				if a.Mode.Writes() && !a.Empty() {
					known.renew(a.Range)
				}
			}
		}
	}
	return g.Without(drop), nil
}

// contents are what buffers hold: rows of values, ascending, without gaps.
type contents struct {
	rows [][]value
	next int32 // the number of the next value
}

// value says that byte x of a buffer, from lo to hi, is byte x+shift of a number.
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

// copy gives a destination the values of its source, and reports whether it had them.
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

// renew gives a range a value that nothing else has.
func (c *contents) renew(r ir.Range) {
	c.set(r, []value{{lo: r.Lo, hi: r.Hi, number: c.next}})
	c.next++
}

// find is the first value of a row that ends behind a byte.
func find(row []value, at int64) int {
	i, _ := slices.BinarySearchFunc(row, at, func(v value, at int64) int {
		if v.hi <= at {
			return -1
		}
		return 1
	})
	return i
}

// part is what a range holds, cut to it.
func (c *contents) part(r ir.Range) []value {
	row := c.rows[r.Buffer]
	i, j := find(row, r.Lo), find(row, r.Hi-1)
	part := slices.Clone(row[i : j+1])
	part[0].lo = r.Lo
	part[len(part)-1].hi = r.Hi
	return part
}

// set replaces what a range holds.
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

// joined has one value where several next to each other are parts of one.
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
