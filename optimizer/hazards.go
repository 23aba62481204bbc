package optimizer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/ir"
)

// Dependence analysis over byte ranges. Each buffer is divided into segments. A
// segment records the last writer and the readers since that write:
//
//	@x  0        64       128                256
//	    ├────────┼────────┼──────────────────┤
//	    │ wrote  │ wrote  │ wrote %0         │
//	    │ %3     │ %4     │ read  %1, %2     │
//
//	a reader waits for the last writer                           RAW
//	a writer waits for the readers since the last write          WAR
//	a writer waits for the last writer if there are no readers   WAW
//
// If there are readers, the wait for the last writer is omitted: each reader waits
// for it already. For the same reason a write replaces the last writer even if it
// leaves some bytes unchanged. It waits for that writer, directly or through the
// readers, and a later reader of the bytes thereby waits for both.
//
// In a buffer of which some accesses have strides, bytes are rearranged so that each access is few ranges (see grids).
//
// All ranges of a trace are known in advance, so that the cuts, the offsets where
// segments can start, are collected first. A segment then is a bit at a cut: a split
// sets it, a write clears the bits that it covers, and nothing moves. Lists of readers
// are shared, so that a split takes constant time. A write visits each reader once and
// then drops it. The whole analysis is linear in accesses and dependencies, apart
// from the binary search for a cut and the scan for the nearest start, 64 cuts at a
// time.

// hazards turns the orders that the accesses and the After lists of g require into
// explicit dependencies. Dependencies implied by others may be present or not;
// the pass reduce removes them.
func hazards(g *ir.Graph) (*ir.Graph, error) {
	if g.Phase >= ir.Analyzed {
		return g, nil
	}
	s := newHazardScan(g)
	if g.Len() >= longTrace {
		s.past.near = make([]uint64, g.Len())
	}
	return s.scan(g)
}

// longTrace is the number of operations from which on dependencies are omitted when the history of one word
// per operation shows that others imply them. For launches in layers this saves a third of memory and time.
// Shorter traces keep all dependencies, for display.
const longTrace = 1 << 14

// segment holds the last accesses of a range of bytes.
type segment struct {
	writer  ir.OpID // the last writer, -1 for none
	readers int32   // head of the list of readers since that write, -1 for none
}

// wait is a dependency of the current operation.
type wait struct {
	from    ir.OpID
	why     ir.Hazard
	bytes   ir.Range // of the first hazard found
	readers int32    // head of the list of readers of these bytes since from wrote them, -1 for none
}

// timeline holds the segments of one buffer. A buffer that is never written has no cuts.
type timeline struct {
	grid   *grid     // the order of the bytes, if accesses have strides; nil for that of the buffer
	cuts   []int64   // ascending offsets in bytes where accesses start or end
	known  int       // during collection: the length of the sorted prefix of cuts
	pace   float64   // average number of sorted cuts per byte
	starts dense.Set // by cut: whether a segment starts there
	state  []segment // by cut: the segment that starts there
}

// touch is an access of the current operation, or one span of it: a sequence of whole segments.
type touch struct {
	*timeline
	buffer     ir.BufferID
	first, end int // the range of cuts [first, end)
	mode       ir.Mode
}

// hazardScan walks a trace in program order.
type hazardScan struct {
	g       *ir.Graph
	grids   grids
	lines   []timeline // by buffer
	readers readers
	touches []touch   // accesses of the current operation to buffers that are written
	past    history   // dependencies of the operations before
	waits   []wait    // of the current operation
	order   []waitKey // of waits, ascending
	slot    []int32   // by operation: the index in waits where the wait for it may be
	scratch [2]ir.Access
	limit   int // largest number of dependencies
}

func newHazardScan(g *ir.Graph) *hazardScan {
	grids := newGrids(g)
	return &hazardScan{
		g:       g,
		grids:   grids,
		lines:   collectTimelines(g, grids),
		readers: readers{limit: minSweep},
		past:    newHistory(g.Len()),
		slot:    make([]int32, g.Len()),
		limit:   maxDeps(g.Len()),
	}
}

// scan returns g with its dependencies.
func (s *hazardScan) scan(g *ir.Graph) (*ir.Graph, error) {
	for v := range g.Ops {
		if err := s.op(ir.OpID(v), &g.Ops[v]); err != nil {
			return nil, err
		}
	}
	return g.WithDeps(ir.Analyzed, trimmed(s.past.deps), s.past.causes.Ranges())
}

// op computes the waits of operation v and adds v to the history.
func (s *hazardScan) op(v ir.OpID, op *ir.Op) error {
	s.waits = s.waits[:0]
	s.readers.sweep(s.lines)
	s.carve(op)
	s.conflicts(v)
	for _, u := range op.After {
		if u < 0 || u >= v {
			return fmt.Errorf("operation %v is declared to run after %v, which does not precede it in program order", v, u)
		}
		s.wait(u, ir.Ordered, ir.Range{}, -1)
	}
	needs := s.past.needed(v, s.thin(v))
	if err := s.fits(v, needs); err != nil {
		return err
	}
	s.past.append(v, s.waits, needs)
	s.take(v)
	return nil
}

// carve splits segments so that each access of an operation covers whole ones.
func (s *hazardScan) carve(op *ir.Op) {
	s.touches = s.touches[:0]
	for _, a := range op.Accesses(&s.scratch) {
		t := &s.lines[a.Buffer]
		switch {
		case t.cuts == nil || a.Empty():
		case t.grid == nil:
			s.touches = append(s.touches, t.touch(&a, a.Lo, a.Hi))
		default:
			for _, b := range s.grids.of(a, nil).spans {
				s.touches = append(s.touches, t.touch(&a, b.lo, b.hi))
			}
		}
	}
}

// touch splits segments so that the bytes [lo, hi) of an access are whole ones.
func (t *timeline) touch(a *ir.Access, lo, hi int64) touch {
	return touch{t, a.Buffer, t.split(t.find(lo)), t.split(t.find(hi)), a.Mode}
}

// conflicts adds the waits that the accesses of v require. Reads come first, so that a dependency
// names the bytes that are read.
func (s *hazardScan) conflicts(v ir.OpID) {
	for i := range s.touches {
		if t := &s.touches[i]; t.mode.Reads() {
			s.read(t)
		}
	}
	for i := range s.touches {
		if t := &s.touches[i]; t.mode.Writes() {
			s.write(v, t)
		}
	}
}

// read adds waits for the writers of t.
func (s *hazardScan) read(t *touch) {
	for i, next := t.first, 0; i < t.end; i = next {
		next = t.starts.Next(i + 1)
		if seg := t.state[i]; seg.writer >= 0 {
			s.wait(seg.writer, ir.RAW, t.span(i, next), seg.readers)
		}
	}
}

// write adds waits for the readers of t, or for its writers where there are no readers.
func (s *hazardScan) write(v ir.OpID, t *touch) {
	for i, next := t.first, 0; i < t.end; i = next {
		next = t.starts.Next(i + 1)
		seg := t.state[i]
		if seg.readers < 0 && seg.writer >= 0 {
			s.wait(seg.writer, ir.WAW, t.span(i, next), -1)
		}
		for k := seg.readers; k >= 0; {
			r := &s.readers.links[k]
			if r.asked == v {
				break
			}
			r.asked = v
			s.wait(r.op, ir.WAR, t.span(i, next), -1)
			k = r.next
		}
	}
}

// wait adds a dependency on u, or adds its hazard to an existing one.
func (s *hazardScan) wait(u ir.OpID, why ir.Hazard, bytes ir.Range, readers int32) {
	if i := int(s.slot[u]); i < len(s.waits) && s.waits[i].from == u {
		s.waits[i].why |= why
		return
	}
	s.slot[u] = int32(len(s.waits))
	s.waits = append(s.waits, wait{u, why, bytes, readers})
}

// An operation that reads many segments waits for the writer of each, although other waits imply most of them:
//
//	w0 ──► r0 ──► w1 ──► r1 ──► w2 ──► r2      each w writes one tile, each r sums all tiles:
//	└─────────────▲      │             │       of the waits for writers, r2 needs only w2
//	└────────────────────▲─────────────▲
//
// Such an operation searches backwards from its latest wait. Another wait is implied if the search reaches
// its operation, or an operation that read what it wrote: r1 implies w0 and w1. Each search may use half
// of the remaining visits, so that no search uses them all. Readers reached by a search are dropped from the lists
// that the operation enters.

const (
	// manyWaits is the number of waits from which on an operation searches backwards. For fewer waits, a redundant
	// dependency is cheaper than a search; the pass reduce removes it.
	manyWaits = 32
	// visitsPerWait is the number of dependencies that searches may visit per wait. It keeps the analysis linear.
	visitsPerWait = 8
)

// waitKey is the index of a wait, below the operation that it is for. Sorting keys instead of waits moves a
// sixth of the memory.
type waitKey uint64

func (t waitKey) from() ir.OpID { return ir.OpID(t >> 32) }
func (t waitKey) index() int    { return int(uint32(t)) }

// sort collects the waits for which counts is true in s.order, ascending by operation.
func (s *hazardScan) sort(counts func(*wait) bool) {
	s.order = s.order[:0]
	for i := range s.waits {
		if w := &s.waits[i]; counts(w) {
			s.order = append(s.order, waitKey(w.from)<<32|waitKey(i))
		}
	}
	slices.Sort(s.order)
}

// thin returns the waits of v, ascending, without those found to be implied by others. The first search usually
// leaves only few waits to sort.
func (s *hazardScan) thin(v ir.OpID) []waitKey {
	if len(s.waits) < manyWaits {
		s.sort(func(*wait) bool { return true })
		return s.order
	}
	byFrom := func(a, b wait) int { return cmp.Compare(a.from, b.from) }
	oldest, newest := slices.MinFunc(s.waits, byFrom).from, slices.MaxFunc(s.waits, byFrom).from
	visits := visitsPerWait * len(s.waits)
	visits -= s.past.search(newest, v, oldest, visits/2)
	s.sort(func(w *wait) bool { return !s.implied(v, w) })

	kept := len(s.order)
	for _, t := range slices.Backward(s.order) {
		if !s.implied(v, &s.waits[t.index()]) {
			visits -= s.past.search(t.from(), v, oldest, visits/2)
			kept--
			s.order[kept] = t
		}
		s.past.met[t.from()] = v
	}
	return s.order[kept:]
}

// implied reports whether a wait of v is known to be implied by later waits.
func (s *hazardScan) implied(v ir.OpID, w *wait) bool {
	return s.past.before(w.from, v) || w.readers >= 0 && s.standsFor(w.readers, v)
}

// standsFor reports whether one of the first readers of a list is known to precede v.
func (s *hazardScan) standsFor(readers int32, v ir.OpID) bool {
	r := &s.readers.links[readers]
	return s.past.before(r.op, v) || r.earlier >= 0 && s.past.before(r.earlier, v)
}

// take records the accesses of v in the segments. Writes are recorded last: what the operation
// reads is older than what it writes.
func (s *hazardScan) take(v ir.OpID) {
	for i := range s.touches {
		if t := &s.touches[i]; t.mode == ir.Read {
			s.list(v, t)
		}
	}
	for i := range s.touches {
		if t := &s.touches[i]; t.mode.Writes() {
			t.join(segment{writer: v, readers: -1})
		}
	}
}

// list adds v to the readers of t. Segments that shared a list of readers share the
// new one.
func (s *hazardScan) list(v ir.OpID, t *touch) {
	tail, head := int32(-2), int32(-2) // no list
	for i := t.first; i < t.end; i = t.starts.Next(i + 1) {
		seg := &t.state[i]
		if seg.readers != tail {
			tail, head = seg.readers, s.link(v, seg.readers)
		}
		seg.readers = head
	}
}

// link returns a list of v and the readers in tail, without the readers at its head that v is known to wait for:
// an operation that waits for v waits for them.
func (s *hazardScan) link(v ir.OpID, tail int32) int32 {
	link := reader{op: v, next: tail, earlier: -1, asked: -1}
	for link.next >= 0 {
		r := &s.readers.links[link.next]
		if r.op == v {
			return link.next
		}
		link.earlier = max(link.earlier, r.earlier)
		if !s.past.before(r.op, v) {
			break
		}
		link.earlier = max(link.earlier, r.op)
		link.next = r.next
	}
	n := len(s.readers.links)
	if n > 0 && s.readers.links[n-1] == link {
		return int32(n - 1)
	}
	s.readers.links = append(s.readers.links, link)
	return int32(n)
}

// collectTimelines prepares a timeline with all cuts for each buffer that is written. Accesses
// of other buffers cannot conflict.
func collectTimelines(g *ir.Graph, grids grids) []timeline {
	lines := make([]timeline, len(g.Buffers))
	for b := range grids {
		lines[b].grid = grids[b]
	}
	written := make([]bool, len(g.Buffers))
	var scratch [2]ir.Access
	for i := range g.Ops {
		for _, a := range g.Ops[i].Accesses(&scratch) {
			if a.Empty() {
				continue
			}
			written[a.Buffer] = written[a.Buffer] || a.Mode.Writes()
			t := &lines[a.Buffer]
			if t.grid == nil {
				t.cut(a.Lo, a.Hi)
				continue
			}
			for _, s := range grids.of(a, nil).spans {
				t.cut(s.lo, s.hi)
			}
		}
	}
	for b := range lines {
		if !written[b] {
			lines[b] = timeline{}
			continue
		}
		lines[b].open()
	}
	return lines
}

// cut collects the start and the end of a range [lo, hi). Programs use the same ranges repeatedly, so that known cuts are
// skipped: memory grows with the number of cuts, not of accesses.
func (t *timeline) cut(lo, hi int64) {
	if n := len(t.cuts); n > 1 && t.cuts[n-2] == lo && t.cuts[n-1] == hi {
		return
	}
	if _, known := t.search(lo); known {
		if _, known := t.search(hi); known {
			return
		}
	}
	t.cuts = append(t.cuts, lo, hi)
	if len(t.cuts) > 2*t.known+64 {
		t.settle()
	}
}

// search looks up an offset in the sorted prefix of cuts. Cuts of tiles are equidistant, so that interpolation
// is tried before the binary search.
func (t *timeline) search(at int64) (int, bool) {
	cuts := t.cuts[:t.known]
	if len(cuts) > 0 && at >= cuts[0] {
		if i := int(float64(at-cuts[0])*t.pace + 0.5); i < len(cuts) && cuts[i] == at {
			return i, true
		}
	}
	return slices.BinarySearch(cuts, at)
}

// settle sorts the collected cuts and removes duplicates.
func (t *timeline) settle() {
	slices.Sort(t.cuts)
	t.cuts = slices.Compact(t.cuts)
	t.known = len(t.cuts)
	if last := t.known - 1; last > 0 {
		t.pace = float64(last) / float64(t.cuts[last]-t.cuts[0])
	}
}

// open makes the whole buffer one segment without accesses. The last cut counts as a start, so that every segment
// has a successor.
func (t *timeline) open() {
	t.settle()
	t.starts = dense.NewSet(len(t.cuts))
	t.starts.Add(0)
	t.starts.Add(len(t.cuts) - 1)
	t.state = make([]segment, len(t.cuts))
	t.state[0] = segment{writer: -1, readers: -1}
}

// find returns the index of the cut at an offset, which must have been collected.
func (t *timeline) find(at int64) int {
	i, found := t.search(at)
	if !found {
		panic(fmt.Sprintf("BUG: byte %d was not collected as a cut", at))
	}
	return i
}

// split makes a segment start at a cut and returns the cut.
func (t *timeline) split(i int) int {
	if !t.starts.Has(i) {
		t.state[i] = t.state[t.starts.Prev(i)]
		t.starts.Add(i)
	}
	return i
}

// join makes the segments of t one. Another access of the same operation may already have joined
// some of them with segments outside t; hence the splits.
func (t *touch) join(one segment) {
	t.split(t.first)
	t.split(t.end)
	for i := t.first; i < t.end; i = t.starts.Next(i + 1) {
		t.starts.Remove(i)
	}
	t.starts.Add(t.first)
	t.state[t.first] = one
}

// span returns the bytes between two cuts, in a grid the range that holds them.
func (t *touch) span(i, j int) ir.Range {
	s := span{t.cuts[i], t.cuts[j]}
	if t.grid != nil {
		s = t.grid.hull(s)
	}
	return ir.Range{Buffer: t.buffer, Lo: s.lo, Hi: s.hi}
}
