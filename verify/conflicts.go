package verify

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/internal/box"
	"github.com/reprise-gpu/reprise/ir"
)

// conflict is a pair of operations that access the same bytes, one of them to write, or that an after edge orders.
// Operations of the second replay have the numbers behind those of the first.
type conflict struct {
	first, second int32
	hazard        ir.Hazard
	boxes         [2]int32 // what both access; see conflicts.common
}

// conflicts finds the conflicts of two replays in a row: for each operation the nearest earlier ones that it conflicts
// with. If these pairs are ordered, then so are all pairs, by transitivity along the writes of each byte.
//
// Accesses of equal bytes share a box, and an edge joins boxes that have a byte in common:
//
//	boxes     @c tile 0 ──── @c whole ──── @c tile 1
//	writer    %3             %0            %4          the last operation that wrote exactly this box
//	readers   %5             %7 %8                     since
//
// An access conflicts with the writers of its box and of the neighbours and, if it writes, with their readers. A write
// clears the boxes that it covers, because each later access to one of them also meets the box that was written. Each
// edge counts the readers that its box has met already, so that an access takes time in the number of neighbours and
// of new readers.
//
// This algorithm is neither that of the pass hazards nor that of package ir, so that it shares no mistake with them.
type conflicts struct {
	graph *ir.Graph
	where func(ir.Access) ir.Access // to the bytes that are compared; its shape is that of the access
	boxes []boxState
	ids   map[ir.Access]int32 // by range and shape; the mode is zero
	seen  []int32             // by operation: the last later operation that it was found to conflict with
	found []conflict
}

// boxState is the accesses to one box so far.
type boxState struct {
	box.Box
	of         ir.Access // one of the accesses, as the graph has it
	neighbours []neighbour
	writer     int32 // -1 for none
	readers    []int32
	dropped    int // number of readers that have been cleared
}

// neighbour is a box with a byte in common, or the box itself. met is the number of its readers, with those cleared,
// that have been compared.
type neighbour struct {
	box    int32
	covers bool // no byte of the neighbour is outside the box
	met    int
}

// conflictsOf returns the conflicts of two replays whose operations run in the order given.
func conflictsOf(g *ir.Graph, order []ir.OpID, where func(ir.Access) ir.Access) *conflicts {
	c := &conflicts{graph: g, where: where, ids: map[ir.Access]int32{}, seen: slices.Repeat([]int32{-1}, 2*g.Len())}
	var scratch [2]ir.Access
	for _, v := range order {
		for _, a := range g.Ops[v].Accesses(&scratch) {
			c.addBox(a)
		}
	}
	c.join()
	for replay := range int32(2) {
		for _, v := range order {
			accesses := g.Ops[v].Accesses(&scratch)
			id := int32(v) + replay*int32(g.Len())
			for _, a := range accesses {
				c.read(id, a)
			}
			for _, a := range accesses {
				c.write(id, a)
			}
		}
	}
	return c
}

// key returns what identifies the box of an access, and false for an access that is not compared.
func (c *conflicts) key(a ir.Access) (ir.Access, bool) {
	if a.Empty() {
		return a, false
	}
	a = c.where(a)
	a.Mode = 0
	return a, a.Buffer >= 0
}

func (c *conflicts) addBox(a ir.Access) {
	key, ok := c.key(a)
	if !ok {
		return
	}
	if _, known := c.ids[key]; !known {
		c.ids[key] = int32(len(c.boxes))
		c.boxes = append(c.boxes, boxState{Box: c.graph.Box(key), of: a, writer: -1})
	}
}

// join finds the boxes with bytes in common among those whose hulls overlap.
func (c *conflicts) join() {
	buffer := make([]ir.BufferID, len(c.boxes))
	order := make([]int32, len(c.boxes))
	for key, id := range c.ids {
		buffer[id], order[id] = key.Buffer, id
	}
	slices.SortFunc(order, func(i, j int32) int {
		return cmp.Or(cmp.Compare(buffer[i], buffer[j]), cmp.Compare(c.boxes[i].Lo, c.boxes[j].Lo), cmp.Compare(i, j))
	})
	for n, i := range order {
		b := &c.boxes[i]
		b.neighbours = append(b.neighbours, neighbour{box: i})
		hi := b.Hi()
		for _, j := range order[n+1:] {
			o := &c.boxes[j]
			if buffer[j] != buffer[i] || o.Lo >= hi {
				break
			}
			if b.Overlaps(o.Box) {
				b.neighbours = append(b.neighbours, neighbour{box: j, covers: b.Holds(o.Box)})
				o.neighbours = append(o.neighbours, neighbour{box: i, covers: o.Holds(b.Box)})
			}
		}
	}
}

func (c *conflicts) read(v int32, a ir.Access) {
	key, ok := c.key(a)
	if !ok || !a.Mode.Reads() {
		return
	}
	id := c.ids[key]
	b := &c.boxes[id]
	for _, n := range b.neighbours {
		c.add(c.boxes[n.box].writer, v, ir.RAW, n.box, id)
	}
	if n := len(b.readers); n == 0 || b.readers[n-1] != v {
		b.readers = append(b.readers, v)
	}
}

func (c *conflicts) write(v int32, a ir.Access) {
	key, ok := c.key(a)
	if !ok || !a.Mode.Writes() {
		return
	}
	id := c.ids[key]
	b := &c.boxes[id]
	for i := range b.neighbours {
		n := &b.neighbours[i]
		o := &c.boxes[n.box]
		if len(o.readers) == 0 { // readers follow the writer
			c.add(o.writer, v, ir.WAW, n.box, id)
		}
		for _, r := range o.readers[max(0, n.met-o.dropped):] {
			c.add(r, v, ir.WAR, n.box, id)
		}
		n.met = o.dropped + len(o.readers)
		if n.covers {
			o.clear()
		}
	}
	b.clear()
	b.writer = v
}

func (b *boxState) clear() {
	b.writer, b.dropped, b.readers = -1, b.dropped+len(b.readers), b.readers[:0]
}

// add adds a conflict, once for each pair. u is -1 for none.
func (c *conflicts) add(u, v int32, h ir.Hazard, a, b int32) {
	if u < 0 || u == v || c.seen[u] == v {
		return
	}
	c.seen[u] = v
	c.found = append(c.found, conflict{u, v, h, [2]int32{a, b}})
}

// common returns the first bytes that the boxes of a conflict have in common, as a range of the buffer that the second
// operation accesses.
func (c *conflicts) common(p conflict) ir.Range {
	a, b := &c.boxes[p.boxes[0]], &c.boxes[p.boxes[1]]
	lo, hi := firstCommon(a.Box, b.Box)
	return ir.Range{Buffer: b.of.Buffer, Lo: lo - b.Lo + b.of.Lo, Hi: hi - b.Lo + b.of.Lo}
}

// firstCommon returns the first run of bytes that two boxes have in common. It walks the runs of both in step.
func firstCommon(a, b box.Box) (lo, hi int64) {
	var runs [][2]int64
	b.Runs(func(lo, hi int64) bool {
		runs = append(runs, [2]int64{lo, hi})
		return true
	})
	i := 0
	a.Runs(func(from, to int64) bool {
		for i < len(runs) && runs[i][1] <= from {
			i++
		}
		if i < len(runs) && runs[i][0] < to {
			lo, hi = max(from, runs[i][0]), min(to, runs[i][1])
			return false
		}
		return true
	})
	return lo, hi
}
