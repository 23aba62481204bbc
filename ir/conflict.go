package ir

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
)

// conflict says that two operations touch the same bytes and one of them
// writes, so that they must stay in order.
type conflict struct {
	dense.Edge
	hazard Hazard
	cause  Range
}

// sweep goes through operations in some order and finds, for each, the last
// ones before it that it conflicts with. The optimizer's hazards pass computes the
// same by another algorithm, and on purpose: a verifier that called the
// pass it checks would share its mistakes. If these are all ordered, so are all
// pairs that conflict: the rest follow along the writes of each byte.
//
// Every buffer is cut into segments of bytes with the same history. A write
// joins the segments it covers, so there are never more of them than reads
// since have cut.
type sweep struct {
	buffers [][]segment
	pool    []reader
	seen    []int32      // by operation: the last one found to conflict with it
	settled *dense.Preds // conflicts along its edges are left out, as most are; or nil
	found   []conflict
}

// segment is the bytes [lo, hi) with their last writer and its readers.
type segment struct {
	lo, hi  int64
	writer  int32 // -1 for none
	readers int32 // in pool, -1 for none
}

// reader is an element of a list; lists share tails when a segment is cut.
type reader struct{ op, next int32 }

func newSweep(ops int, sizes []int64) *sweep {
	s := &sweep{buffers: make([][]segment, len(sizes)), seen: make([]int32, ops)}
	for i := range s.seen {
		s.seen[i] = -1
	}
	for b, size := range sizes {
		if size > 0 {
			s.buffers[b] = []segment{{hi: size, writer: -1, readers: -1}}
		}
	}
	return s
}

// step takes the accesses of the next operation. Its reads come before its
// writes, so a ReadWrite waits for the last writer as a read does.
func (s *sweep) step(v int32, accesses []Access) {
	for _, a := range accesses {
		s.readAs(a, v)
	}
	for _, a := range accesses {
		s.writeAs(a, v)
	}
}

// readAs takes a if it reads, on behalf of v.
func (s *sweep) readAs(a Access, v int32) {
	if a.Mode.Reads() && !a.Empty() {
		s.read(v, a.Range)
	}
}

// writeAs takes a if it writes, on behalf of v.
func (s *sweep) writeAs(a Access, v int32) {
	if a.Mode.Writes() && !a.Empty() {
		s.write(v, a.Range)
	}
}

func (s *sweep) read(v int32, r Range) {
	i, j := s.cut(r)
	segs := s.buffers[r.Buffer]
	for k := i; k < j; k++ {
		seg := &segs[k]
		s.add(seg.writer, v, RAW, Range{r.Buffer, seg.lo, seg.hi})
		if seg.readers < 0 || s.pool[seg.readers].op != v {
			s.pool = append(s.pool, reader{v, seg.readers})
			seg.readers = int32(len(s.pool) - 1)
		}
	}
}

func (s *sweep) write(v int32, r Range) {
	i, j := s.cut(r)
	segs := s.buffers[r.Buffer]
	for _, seg := range segs[i:j] {
		bytes := Range{r.Buffer, seg.lo, seg.hi}
		if seg.readers < 0 { // else the readers stand between the writers
			s.add(seg.writer, v, WAW, bytes)
		}
		for at := seg.readers; at >= 0; at = s.pool[at].next {
			s.add(s.pool[at].op, v, WAR, bytes)
		}
	}
	segs[i] = segment{r.Lo, r.Hi, v, -1}
	s.buffers[r.Buffer] = slices.Delete(segs, i+1, j)
}

// cut makes r's ends ends of segments and returns the segments between them.
func (s *sweep) cut(r Range) (i, j int) {
	s.cutAt(r.Buffer, r.Lo)
	s.cutAt(r.Buffer, r.Hi)
	return s.find(r.Buffer, r.Lo), s.find(r.Buffer, r.Hi)
}

// find returns the first segment that ends behind the byte at.
func (s *sweep) find(b BufferID, at int64) int {
	i, _ := slices.BinarySearchFunc(s.buffers[b], at, func(seg segment, at int64) int {
		if seg.hi <= at {
			return -1
		}
		return 1
	})
	return i
}

func (s *sweep) cutAt(b BufferID, at int64) {
	segs := s.buffers[b]
	i := s.find(b, at)
	if i == len(segs) || segs[i].lo >= at {
		return
	}
	left := segs[i]
	left.hi, segs[i].lo = at, at
	s.buffers[b] = slices.Insert(segs, i, left)
}

// add notes a conflict, once for each pair.
func (s *sweep) add(u, v int32, h Hazard, cause Range) {
	if u < 0 || u == v || s.seen[u] == v {
		return
	}
	s.seen[u] = v
	if s.settled != nil && s.settled.Has(u, v) {
		return
	}
	s.found = append(s.found, conflict{dense.Edge{From: u, To: v}, h, cause})
}

// needsAtOnce is about how many needs are kept at once, in 160 MB. A few thousand operations can have more:
// as many as there are readers, times the writers that each reads from.
const needsAtOnce = 1 << 22

// needs calls check with what must be ordered in g, conflicts and after edges, in program order and in
// batches that check does not keep, until it returns false. What the edges of settled order is left out,
// unless settled is nil.
func (g *Graph) needs(settled *dense.Preds, check func([]conflict) bool) {
	g.needsBy(needsAtOnce, settled, check)
}

// needsBy is needs with about n in a batch.
func (g *Graph) needsBy(n int, settled *dense.Preds, check func([]conflict) bool) {
	sizes := make([]int64, len(g.Buffers))
	for b := range sizes {
		sizes[b] = g.Buffers[b].Size()
	}
	s := newSweep(len(g.Ops), sizes)
	s.settled = settled
	var scratch [2]Access
	for v := range g.Ops {
		s.step(int32(v), g.Ops[v].Accesses(&scratch))
		s.after(int32(v), g.Ops[v].After)
		if len(s.found) >= n {
			if !check(s.found) {
				return
			}
			s.found = s.found[:0]
		}
	}
	check(s.found)
}

// after adds the after edges of v.
func (s *sweep) after(v int32, edges []OpID) {
	for _, u := range edges {
		if s.settled == nil || !s.settled.Has(int32(u), v) {
			s.found = append(s.found, conflict{dense.Edge{From: int32(u), To: v}, Ordered, Range{}})
		}
	}
}
