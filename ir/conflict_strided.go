package ir

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/internal/box"
)

// history finds the conflicts in one buffer of which some accesses have strides. Such accesses have no common
// segments, so it compares boxes. Programs use few different ones, and again and again:
//
//	boxes     @c tile 0 ──── @c whole ──── @c tile 1        an edge joins boxes with a byte in common
//	writer    %3             %0            %4
//	readers   %5             %7 %8
//
// Each box keeps the last operation that wrote exactly this box, and the operations that have read it since. An access
// to a box visits the box and its neighbours. It conflicts with their writers and, if it writes, with their readers.
// The result is sufficient for the same reason as in sweep: writes of one box are ordered, so that older writers and
// their readers precede the last one, which has a byte in common with the access too.
//
// A write does not remove the readers of neighbours, which may have read other bytes. Instead, each edge marks how
// many readers of the neighbour the last write of the box has met already. An access therefore takes time in the
// number of neighbours and of new readers.
type history struct {
	ids   map[Access]int32 // by range and shape; the mode is zero
	boxes []boxState
}

// boxState is the accesses to one box so far.
type boxState struct {
	box.Box
	neighbors []neighbor // the box itself is the first
	writer    int32      // -1 for none
	readers   []int32    // since the last write
	dropped   int        // number of earlier readers, before the last write
}

// neighbor is a box with a byte in common. met is the number of its readers, with the dropped ones, that the last write
// of this box was compared with.
type neighbor struct {
	box int32
	met int
}

// histories returns, by buffer, a history for each buffer of which some accesses have strides, and nil if no buffer has
// one. each calls its argument with the accesses of every operation.
func histories(g *Graph, buffers int, each func(func([]Access))) []*history {
	if len(g.Shapes) == 0 {
		return nil
	}
	all := make([]*history, buffers)
	each(func(accesses []Access) {
		for _, a := range accesses {
			if a.Shape != 0 && all[a.Buffer] == nil {
				all[a.Buffer] = &history{ids: map[Access]int32{}}
			}
		}
	})
	each(func(accesses []Access) {
		for _, a := range accesses {
			if h := all[a.Buffer]; h != nil && !a.Empty() {
				h.add(g, a)
			}
		}
	})
	for _, h := range all {
		if h != nil {
			h.join()
		}
	}
	return all
}

// add adds the box of an access.
func (h *history) add(g *Graph, a Access) {
	a.Mode = 0
	if _, ok := h.ids[a]; !ok {
		h.ids[a] = int32(len(h.boxes))
		h.boxes = append(h.boxes, boxState{Box: g.Box(a), writer: -1})
	}
}

// box returns the state of the box of an access.
func (h *history) box(a Access) *boxState {
	a.Mode = 0
	return &h.boxes[h.ids[a]]
}

// join finds the boxes that have bytes in common: of each two whose hulls overlap, by their offsets.
func (h *history) join() {
	order := make([]int32, len(h.boxes))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int { return cmp.Compare(h.boxes[i].Lo, h.boxes[j].Lo) })
	for n, i := range order {
		b := &h.boxes[i]
		b.neighbors = append(b.neighbors, neighbor{box: i})
		hi := b.Hi()
		for _, j := range order[n+1:] {
			c := &h.boxes[j]
			if c.Lo >= hi {
				break
			}
			if b.Overlaps(c.Box) {
				b.neighbors = append(b.neighbors, neighbor{box: j})
				c.neighbors = append(c.neighbors, neighbor{box: i})
			}
		}
	}
}

// readBox is read for an access to a buffer with a history.
func (s *sweep) readBox(h *history, v int32, a Access) {
	b := h.box(a)
	for _, n := range b.neighbors {
		c := &h.boxes[n.box]
		s.add(c.writer, v, RAW, b.common(c, a.Buffer))
	}
	if n := len(b.readers); n == 0 || b.readers[n-1] != v {
		b.readers = append(b.readers, v)
	}
}

// writeBox is write for an access to a buffer with a history. A writer of a neighbour that was read since precedes
// its readers.
func (s *sweep) writeBox(h *history, v int32, a Access) {
	b := h.box(a)
	for i := range b.neighbors {
		n := &b.neighbors[i]
		c := &h.boxes[n.box]
		if len(c.readers) == 0 {
			s.add(c.writer, v, WAW, b.common(c, a.Buffer))
		}
		for _, r := range c.readers[max(0, n.met-c.dropped):] {
			s.add(r, v, WAR, b.common(c, a.Buffer))
		}
		n.met = c.dropped + len(c.readers)
	}
	b.writer, b.dropped, b.readers = v, b.dropped+len(b.readers), b.readers[:0]
}

// common returns a range that has all bytes which two boxes of a buffer have in common.
func (b *boxState) common(c *boxState, buffer BufferID) Range {
	return Range{buffer, max(b.Lo, c.Lo), min(b.Hi(), c.Hi())}
}
