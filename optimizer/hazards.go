package optimizer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
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
	if g.Len() >= longTrace {
		s.past.near = make([]uint64, g.Len())
	}
	return s.scan(g)
}

// longTrace is the number of operations from which on dependencies are left out as soon as a word per
// operation shows that others imply them: a third of those of launches in layers, in memory and
// time. Of shorter traces people and tools look at all there are.
const longTrace = 1 << 14

// segment is the recent past of some bytes.
type segment struct {
	writer  ir.OpID // last to write, -1 for none
	readers int32   // head of the list of readers since, -1 for none
}

// wait is a reason for the operation at hand to wait for another.
type wait struct {
	from    ir.OpID
	why     ir.Hazard
	bytes   ir.Range // of the first hazard
	readers int32    // who read these bytes since from wrote them, -1 for none
}

// timeline is the past of one buffer. A buffer nobody writes has no cuts.
type timeline struct {
	cuts   []int64   // ascending: wherever an access starts or ends
	known  int       // while they are collected: so many ascend, the rest are in any order
	pace   float64   // how many of those there are to a byte
	starts dense.Set // by cut: a segment starts here
	state  []segment // by cut, of the segment that starts there
}

// touch is an access of the operation at hand: a run of whole segments.
type touch struct {
	*timeline
	buffer     ir.BufferID
	first, end int // cuts
	mode       ir.Mode
}

// hazardScan walks a trace in program order.
type hazardScan struct {
	g       *ir.Graph
	lines   []timeline // by buffer
	readers readers
	touches []touch // accesses of the current operation that may conflict with others
	past    past
	waits   []wait  // of the current operation
	order   []turn  // of waits, ascending
	slot    []int32 // by operation: where waits may hold the dependency on it
	scratch [2]ir.Access
	limit   int // of dependencies
}

func newHazardScan(g *ir.Graph) *hazardScan {
	return &hazardScan{
		g:       g,
		lines:   collectTimelines(g),
		readers: readers{limit: minSweep},
		past:    newPast(g.Len()),
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

// op finds what the operation v must wait for and takes it into the past.
func (s *hazardScan) op(v ir.OpID, op *ir.Op) error {
	s.waits = s.waits[:0]
	s.readers.sweep(s.lines)
	s.carve(op)
	s.conflicts(v)
	for _, u := range op.After {
		if u < 0 || u >= v {
			return fmt.Errorf("operation %v is ordered after %v, which does not come before it in program order", v, u)
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

// carve makes the accesses of an operation runs of whole segments.
func (s *hazardScan) carve(op *ir.Op) {
	s.touches = s.touches[:0]
	for _, a := range op.Accesses(&s.scratch) {
		if t := &s.lines[a.Buffer]; t.cuts != nil && !a.Empty() {
			s.touches = append(s.touches, touch{t, a.Buffer, t.split(t.find(a.Lo)), t.split(t.find(a.Hi)), a.Mode})
		}
	}
}

// conflicts makes v wait for what its accesses ask for. Reads come first, so that a
// dependency names the bytes that are read.
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

// read waits for the writers of t.
func (s *hazardScan) read(t *touch) {
	for i, next := t.first, 0; i < t.end; i = next {
		next = t.starts.Next(i + 1)
		if seg := t.state[i]; seg.writer >= 0 {
			s.wait(seg.writer, ir.RAW, t.span(i, next), seg.readers)
		}
	}
}

// write makes v wait for the readers of t, or for its writers where there are none.
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

// wait adds a reason to wait for u.
func (s *hazardScan) wait(u ir.OpID, why ir.Hazard, bytes ir.Range, readers int32) {
	if i := int(s.slot[u]); i < len(s.waits) && s.waits[i].from == u {
		s.waits[i].why |= why
		return
	}
	s.slot[u] = int32(len(s.waits))
	s.waits = append(s.waits, wait{u, why, bytes, readers})
}

// Who reads many segments waits for the writer of each, although most of them may be implied:
//
//	w0 ──► r0 ──► w1 ──► r1 ──► w2 ──► r2      each w changes a tile, each r sums them all:
//	└─────────────▲      │             │       of the writers of tiles, w2 alone is news to r2
//	└────────────────────▲─────────────▲
//
// So an operation that waits for many looks back from the latest of them. Another wait is
// implied when the search meets whom it is for, or somebody who read what that one wrote: to
// r2, r1 stands for w0 and w1. Half of the looks that are left go to one search, so that
// none takes them all. Readers that are met leave the lists that the operation enters.

const (
	// manyWaits is how many an operation has to wait for before it looks back. Below, a
	// dependency too many is cheaper, and reduce finds it.
	manyWaits = 32
	// looksBack is how many dependencies may be looked at for each wait, which keeps time linear.
	looksBack = 8
)

// turn is an element of waits by whom it is for. The waits themselves are not moved: they are
// six times as large.
type turn uint64

func (t turn) from() ir.OpID { return ir.OpID(t >> 32) }
func (t turn) index() int    { return int(uint32(t)) }

// sort sets the order of those waits that count.
func (s *hazardScan) sort(counts func(*wait) bool) {
	s.order = s.order[:0]
	for i := range s.waits {
		if w := &s.waits[i]; counts(w) {
			s.order = append(s.order, turn(w.from)<<32|turn(i))
		}
	}
	slices.Sort(s.order)
}

// thin returns the waits of v, ascending, without those that it finds implied by others. The
// first search leaves few of them to be sorted, as a rule.
func (s *hazardScan) thin(v ir.OpID) []turn {
	if len(s.waits) < manyWaits {
		s.sort(func(*wait) bool { return true })
		return s.order
	}
	byFrom := func(a, b wait) int { return cmp.Compare(a.from, b.from) }
	oldest, newest := slices.MinFunc(s.waits, byFrom).from, slices.MaxFunc(s.waits, byFrom).from
	looks := looksBack * len(s.waits)
	looks -= s.past.search(newest, v, oldest, looks/2)
	s.sort(func(w *wait) bool { return !s.implied(v, w) })

	kept := len(s.order)
	for _, t := range slices.Backward(s.order) {
		if !s.implied(v, &s.waits[t.index()]) {
			looks -= s.past.search(t.from(), v, oldest, looks/2)
			kept--
			s.order[kept] = t
		}
		s.past.met[t.from()] = v
	}
	return s.order[kept:]
}

// implied reports whether a wait of v is known to follow from later ones.
func (s *hazardScan) implied(v ir.OpID, w *wait) bool {
	return s.past.before(w.from, v) || w.readers >= 0 && s.standsFor(w.readers, v)
}

// standsFor reports whether v is known to come after one of the readers.
func (s *hazardScan) standsFor(readers int32, v ir.OpID) bool {
	r := &s.readers.links[readers]
	return s.past.before(r.op, v) || r.earlier >= 0 && s.past.before(r.earlier, v)
}

// take makes the accesses of v part of the past. Writes come second: what the
// operation reads is older than what it writes.
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

// list puts v at the head of the readers of t. Segments with the same readers
// share the link.
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

// link returns a list of v and the readers in another, less those at its head that v is
// known to wait for: who waits for v waits for them.
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

// collectTimelines prepares a line with all its cuts for each buffer that is
// written at all: on the others no two accesses can conflict.
func collectTimelines(g *ir.Graph) []timeline {
	lines := make([]timeline, len(g.Buffers))
	written := make([]bool, len(g.Buffers))
	var scratch [2]ir.Access
	for i := range g.Ops {
		for _, a := range g.Ops[i].Accesses(&scratch) {
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
	return lines
}

// cut notes where a range starts and ends. Programs use the same ranges again and
// again, so a cut that is known is not kept: memory grows with the cuts, not with the accesses.
func (t *timeline) cut(r ir.Range) {
	if n := len(t.cuts); n > 1 && t.cuts[n-2] == r.Lo && t.cuts[n-1] == r.Hi {
		return
	}
	if _, lo := t.search(r.Lo); lo {
		if _, hi := t.search(r.Hi); hi {
			return
		}
	}
	t.cuts = append(t.cuts, r.Lo, r.Hi)
	if len(t.cuts) > 2*t.known+64 {
		t.settle()
	}
}

// search looks for a byte among the cuts that ascend. Those of tiles are as far from each other, so
// the first look is where it would be then.
func (t *timeline) search(at int64) (int, bool) {
	cuts := t.cuts[:t.known]
	if len(cuts) > 0 && at >= cuts[0] {
		if i := int(float64(at-cuts[0])*t.pace + 0.5); i < len(cuts) && cuts[i] == at {
			return i, true
		}
	}
	return slices.BinarySearch(cuts, at)
}

// settle sorts what has been collected.
func (t *timeline) settle() {
	slices.Sort(t.cuts)
	t.cuts = slices.Compact(t.cuts)
	t.known = len(t.cuts)
	if last := t.known - 1; last > 0 {
		t.pace = float64(last) / float64(t.cuts[last]-t.cuts[0])
	}
}

// open starts the line as one segment without a past. The last cut counts as a
// start too, so that every segment has a next.
func (t *timeline) open() {
	t.settle()
	t.starts = dense.NewSet(len(t.cuts))
	t.starts.Add(0)
	t.starts.Add(len(t.cuts) - 1)
	t.state = make([]segment, len(t.cuts))
	t.state[0] = segment{writer: -1, readers: -1}
}

// find returns the cut at a byte.
func (t *timeline) find(at int64) int {
	i, found := t.search(at)
	if !found {
		panic(fmt.Sprintf("BUG: byte %d was not collected as a cut", at))
	}
	return i
}

// split makes a segment start at a cut and returns it.
func (t *timeline) split(i int) int {
	if !t.starts.Has(i) {
		t.state[i] = t.state[t.starts.Prev(i)]
		t.starts.Add(i)
	}
	return i
}

// join makes the segments of t one. Another access of the operation may have done so
// to some of them and to others beyond.
func (t *touch) join(one segment) {
	t.split(t.first)
	t.split(t.end)
	for i := t.first; i < t.end; i = t.starts.Next(i + 1) {
		t.starts.Remove(i)
	}
	t.starts.Add(t.first)
	t.state[t.first] = one
}

// span is the bytes from one cut to another.
func (t *touch) span(i, j int) ir.Range {
	return ir.Range{Buffer: t.buffer, Lo: t.cuts[i], Hi: t.cuts[j]}
}
