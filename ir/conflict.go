package ir

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
)

// conflict is a pair of operations that must stay in order, because both touch the same bytes and one of
// them writes.
type conflict struct {
	dense.Edge
	hazard Hazard
	cause  Range // bytes that both touch
}

// sweep visits operations in some order and finds, for each, the nearest earlier operations that it
// conflicts with: of each byte that it reads, the last writer; of each byte that it writes, the readers
// since the last write, or the writer if there are none. If all these pairs are ordered, then so are all
// pairs that conflict, by transitivity along the writes of each byte.
//
// Every buffer is cut into segments of bytes with the same history:
//
//	bytes      0          64         128        256
//	           ├──────────┼──────────┼───────────┤
//	writer     │ %0       │ %2       │ %0        │
//	readers    │ %1       │          │ %1 %3     │
//
// A read or write first cuts the segments at its ends. A write then joins the segments that it covers, so
// the number of segments is at most the number of cuts since. A step takes O(log s) for the search in a
// buffer of s segments, plus the segments covered and their readers.
//
// Buffers of which some accesses have strides have no segments: see history.
//
// The hazards pass of package optimizer computes the same relation by another algorithm. The verifier
// does not call it, because it would then share its mistakes.
type sweep struct {
	buffers [][]segment  // by buffer: its segments, ascending and without gaps
	strided []*history   // by buffer: in place of segments, if some of its accesses have strides; nil if none has one
	pool    []reader     // nodes of the lists of readers
	seen    []int32      // by operation: the last later operation found to conflict with it
	settled *dense.Preds // edges along which conflicts are not reported, usually most; nil for none
	found   []conflict
}

// segment is the bytes [lo, hi) with their last writer and the operations that have read them since.
type segment struct {
	lo, hi  int64
	writer  int32 // -1 for none
	readers int32 // head of a list in pool, -1 for none
}

// reader is a node of a linked list of operations. The two parts of a segment that is cut share the rest
// of the list, so that a cut takes constant time.
type reader struct{ op, next int32 }

// newSweep returns a sweep over operations numbered below ops and buffers of these sizes in bytes.
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

// step adds the accesses of the next operation. Reads come before writes, so a ReadWrite conflicts with
// the last writer as a read does.
func (s *sweep) step(v int32, accesses []Access) {
	for _, a := range accesses {
		s.readAs(a, v)
	}
	for _, a := range accesses {
		s.writeAs(a, v)
	}
}

// readAs adds access a of operation v if it reads.
func (s *sweep) readAs(a Access, v int32) {
	switch {
	case !a.Mode.Reads() || a.Empty():
	case s.strided != nil && s.strided[a.Buffer] != nil:
		s.readBox(s.strided[a.Buffer], v, a)
	default:
		s.read(v, a.Range)
	}
}

// writeAs adds access a of operation v if it writes.
func (s *sweep) writeAs(a Access, v int32) {
	switch {
	case !a.Mode.Writes() || a.Empty():
	case s.strided != nil && s.strided[a.Buffer] != nil:
		s.writeBox(s.strided[a.Buffer], v, a)
	default:
		s.write(v, a.Range)
	}
}

// read makes v a reader of the bytes of r. It conflicts with their writers.
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

// write makes v the writer of the bytes of r, in one segment. It conflicts with their readers.
func (s *sweep) write(v int32, r Range) {
	i, j := s.cut(r)
	segs := s.buffers[r.Buffer]
	for _, seg := range segs[i:j] {
		bytes := Range{r.Buffer, seg.lo, seg.hi}
		if seg.readers < 0 { // readers, if any, are ordered behind the last writer already
			s.add(seg.writer, v, WAW, bytes)
		}
		for at := seg.readers; at >= 0; at = s.pool[at].next {
			s.add(s.pool[at].op, v, WAR, bytes)
		}
	}
	segs[i] = segment{r.Lo, r.Hi, v, -1}
	s.buffers[r.Buffer] = slices.Delete(segs, i+1, j)
}

// cut cuts segments at both ends of r and returns the indices [i, j) of the segments in between.
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

// cutAt cuts the segment that holds byte at in two, unless it begins there.
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

// add adds the conflict of u and v to found, once for each pair. u is -1 for none.
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

// needsAtOnce is the number of needs after which a batch ends: 160 MB. The number of all needs can be the
// number of readers times the writers that each reads from, more than memory holds for a few thousand
// operations.
const needsAtOnce = 1 << 22

// needs calls check with batches of the pairs that must be ordered in g, conflicts and after edges, in
// program order, until check returns false. Pairs with an edge in settled are left out; settled may be
// nil. check must not keep a batch.
func (g *Graph) needs(settled *dense.Preds, check func([]conflict) bool) {
	g.needsBy(needsAtOnce, settled, check)
}

// needsBy is needs with batches of about n pairs.
func (g *Graph) needsBy(n int, settled *dense.Preds, check func([]conflict) bool) {
	sizes := make([]int64, len(g.Buffers))
	for b := range sizes {
		sizes[b] = g.Buffers[b].Size()
	}
	s := newSweep(len(g.Ops), sizes)
	s.settled = settled
	var scratch [2]Access
	s.strided = histories(g, len(sizes), func(one func([]Access)) {
		for v := range g.Ops {
			one(g.Ops[v].Accesses(&scratch))
		}
	})
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

// after adds the after edges of v to found.
func (s *sweep) after(v int32, edges []OpID) {
	for _, u := range edges {
		if s.settled == nil || !s.settled.Has(int32(u), v) {
			s.found = append(s.found, conflict{dense.Edge{From: int32(u), To: v}, Ordered, Range{}})
		}
	}
}
