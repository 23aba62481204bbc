package optimizer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// Dependence analysis over byte ranges. Every buffer is a line of segments, and
// a segment knows who wrote it last and who has read it since:
//
//	@x  0        64       128                256
//	    ├────────┼────────┼──────────────────┤
//	    │ wrote  │ wrote  │ wrote %0         │
//	    │ %3     │ %4     │ read  %1, %2     │
//
//	a reader waits for the last writer                          RAW
//	a writer waits for the readers since the last write         WAR
//	a writer waits for the last writer when nobody read since   WAW
//
// A writer that finds readers leaves out the last writer: each reader waits for
// it already. For the same reason a write may replace the last writer even if it
// leaves some bytes as they were: it waits for that writer, directly or through
// the readers, so whoever reads the bytes later waits for both.
//
// All ranges of a trace are known, so the points where segments can ever start
// are collected first. A segment then is a bit at such a point: splitting sets
// it, a write clears those it covers, and nothing moves. Readers are shared
// lists, so a split costs the same however many there are. A write visits a
// reader once and the reader is gone after it, which keeps the whole analysis
// linear in accesses and dependencies, but for the binary search for a cut and
// the scan to the nearest start, 64 cuts at a time.

// hazards makes every ordering that the accesses and after edges of g ask for an
// explicit dependency. Dependencies implied by two others may be missing or
// present; reduce settles that.
func hazards(g *ir.Graph) (*ir.Graph, error) {
	if g.Phase >= ir.Analyzed {
		return g, nil
	}
	s := newHazardScan(g)
	for v := range g.Ops {
		if err := s.op(ir.OpID(v), &g.Ops[v]); err != nil {
			return nil, err
		}
	}
	return g.WithDeps(ir.Analyzed, s.deps.join())
}

// segment is the recent past of some bytes.
type segment struct {
	writer  ir.OpID // last to write, -1 for none
	readers int32   // head of the list of readers since, -1 for none
}

// reader is a link of a list of readers. Segments split from one share a tail.
type reader struct {
	op    ir.OpID
	next  int32   // -1 ends the list
	asked ir.OpID // the last writer that waited for this link and all behind it
}

// timeline is the past of one buffer. A buffer nobody writes has no cuts.
type timeline struct {
	cuts   []int64   // ascending: wherever an access starts or ends
	known  int       // while they are collected: so many ascend, the rest are in any order
	starts bitset    // by cut: a segment starts here
	state  []segment // by cut, of the segment that starts there
}

// hazardScan walks a trace in program order.
type hazardScan struct {
	lines    []timeline // by buffer
	readers  []reader
	accesses []ir.Access // of the current operation
	deps     chunks[ir.Dep]
	waits    []ir.Dep // of the current operation
	slot     []int32  // by operation: where waits may hold the dependency on it
}

func newHazardScan(g *ir.Graph) *hazardScan {
	lines, accesses := collectTimelines(g)
	return &hazardScan{
		lines:   lines,
		readers: make([]reader, 0, accesses),
		slot:    make([]int32, g.Len()),
	}
}

// op finds what the operation v must wait for and takes it into the past.
func (s *hazardScan) op(v ir.OpID, op *ir.Op) error {
	s.waits = s.waits[:0]
	s.accesses = op.AppendAccesses(s.accesses[:0])
	for _, a := range s.accesses {
		if a.Mode.Reads() && !a.Empty() {
			s.read(v, a.Range)
		}
	}
	// Writes come second: what the operation reads is older than what it writes.
	for _, a := range s.accesses {
		if a.Mode.Writes() && !a.Empty() {
			s.write(v, a.Range)
		}
	}
	for _, u := range op.After {
		if u < 0 || u >= v {
			return fmt.Errorf("operation %v is ordered after %v, which does not come before it in program order", v, u)
		}
		s.wait(u, v, ir.Ordered, ir.Range{})
	}
	slices.SortFunc(s.waits, func(a, b ir.Dep) int { return cmp.Compare(a.From, b.From) })
	s.deps.append(s.waits)
	return nil
}

// read makes v wait for the writers of r and lists it as a reader.
func (s *hazardScan) read(v ir.OpID, r ir.Range) {
	t := &s.lines[r.Buffer]
	if t.cuts == nil {
		return
	}
	i, end := t.carve(r)
	for next := i; i < end; i = next {
		next = t.starts.next(i + 1)
		seg := &t.state[i]
		if seg.writer >= 0 {
			s.wait(seg.writer, v, ir.RAW, t.span(r.Buffer, i, next))
		}
		if seg.readers < 0 || s.readers[seg.readers].op != v {
			s.readers = append(s.readers, reader{op: v, next: seg.readers, asked: -1})
			seg.readers = int32(len(s.readers) - 1)
		}
	}
}

// write makes v wait for the readers of r, or for its writers where there are
// none, and joins r into one segment that v wrote.
func (s *hazardScan) write(v ir.OpID, r ir.Range) {
	t := &s.lines[r.Buffer]
	first, end := t.carve(r)
	for i, next := first, 0; i < end; i = next {
		next = t.starts.next(i + 1)
		s.overwrite(v, t.state[i], t.span(r.Buffer, i, next))
		t.starts.clear(i)
	}
	t.starts.set(first)
	t.state[first] = segment{writer: v, readers: -1}
}

// overwrite makes v wait for all that must be over before it changes a segment.
func (s *hazardScan) overwrite(v ir.OpID, seg segment, bytes ir.Range) {
	if s.unread(v, seg) && seg.writer >= 0 && seg.writer != v {
		s.wait(seg.writer, v, ir.WAW, bytes)
	}
	for i := seg.readers; i >= 0 && s.readers[i].asked != v; i = s.readers[i].next {
		s.readers[i].asked = v
		if u := s.readers[i].op; u != v {
			s.wait(u, v, ir.WAR, bytes)
		}
	}
}

// unread reports that nobody but v itself has read the segment since it was
// written. An operation reads a segment once and last, so it heads the list.
func (s *hazardScan) unread(v ir.OpID, seg segment) bool {
	return seg.readers < 0 || s.readers[seg.readers].op == v && s.readers[seg.readers].next < 0
}

// wait adds a reason for v to wait for u.
func (s *hazardScan) wait(u, v ir.OpID, why ir.Hazard, bytes ir.Range) {
	if i := int(s.slot[u]); i < len(s.waits) && s.waits[i].From == u {
		s.waits[i].Hazard |= why
		return
	}
	s.slot[u] = int32(len(s.waits))
	s.waits = append(s.waits, ir.Dep{From: u, To: v, Hazard: why, Cause: bytes})
}

// collectTimelines prepares a line with all its cuts for each buffer that is
// written at all: on the others no two accesses can conflict. It counts the
// accesses too.
func collectTimelines(g *ir.Graph) (lines []timeline, total int) {
	lines = make([]timeline, len(g.Buffers))
	written := make([]bool, len(g.Buffers))
	var accesses []ir.Access
	for i := range g.Ops {
		accesses = g.Ops[i].AppendAccesses(accesses[:0])
		total += len(accesses)
		for _, a := range accesses {
			if a.Empty() {
				continue
			}
			written[a.Buffer] = written[a.Buffer] || a.Mode.Writes()
			lines[a.Buffer].cut(a.Range)
		}
	}
	for b := range lines {
		if !written[b] {
			lines[b] = timeline{}
			continue
		}
		lines[b].open()
	}
	return lines, total
}

// cut notes where a range starts and ends. Programs use the same ranges again and
// again, so a cut that is known is not kept: memory grows with the cuts, not with the accesses.
func (t *timeline) cut(r ir.Range) {
	if n := len(t.cuts); n > 1 && t.cuts[n-2] == r.Lo && t.cuts[n-1] == r.Hi {
		return
	}
	if t.knows(r.Lo) && t.knows(r.Hi) {
		return
	}
	t.cuts = append(t.cuts, r.Lo, r.Hi)
	if len(t.cuts) > 2*t.known+64 {
		t.settle()
	}
}

func (t *timeline) knows(at int64) bool {
	_, found := slices.BinarySearch(t.cuts[:t.known], at)
	return found
}

// settle sorts what has been collected.
func (t *timeline) settle() {
	slices.Sort(t.cuts)
	t.cuts = slices.Compact(t.cuts)
	t.known = len(t.cuts)
}

// open starts the line as one segment without a past. The last cut counts as a
// start too, so that every segment has a next.
func (t *timeline) open() {
	t.settle()
	t.starts = newBitset(len(t.cuts))
	t.starts.set(0)
	t.starts.set(len(t.cuts) - 1)
	t.state = make([]segment, len(t.cuts))
	t.state[0] = segment{writer: -1, readers: -1}
}

// carve makes r a run of whole segments and returns the cuts of its ends.
func (t *timeline) carve(r ir.Range) (first, end int) {
	return t.split(r.Lo), t.split(r.Hi)
}

// split makes a segment start at a byte and returns its cut.
func (t *timeline) split(at int64) int {
	i, found := slices.BinarySearch(t.cuts, at)
	if !found {
		panic(fmt.Sprintf("BUG: byte %d was not collected as a cut", at))
	}
	if !t.starts.has(i) {
		t.state[i] = t.state[t.starts.prev(i)]
		t.starts.set(i)
	}
	return i
}

// span is the bytes from one cut to another.
func (t *timeline) span(b ir.BufferID, i, j int) ir.Range {
	return ir.Range{Buffer: b, Lo: t.cuts[i], Hi: t.cuts[j]}
}
