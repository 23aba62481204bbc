package interp

import (
	"math"
	"math/bits"
)

// sketch estimates how many distinct sectors a launch touches, in little memory:
// it keeps the lines whose hash is below a threshold, and halves the threshold
// when they become too many (Bar-Yossef et al., "Counting Distinct Elements in a
// Data Stream", 2002). What it ends with is a function of the set of lines alone,
// not of their order, so sketches of different blocks can be merged. Launches
// that touch no more lines than it keeps are counted exactly.
type sketch struct {
	level int           // lines are kept whose hash begins with so many zeros
	table []touchedLine // open addressing; a line of 0 is an empty place
	used  []int32       // places of the table
	spare []touchedLine // scratch of refill
}

// touchedLine is a line of four sectors, and what was done to them: a bit each.
type touchedLine struct {
	line          uint64 // its number, plus one
	read, written uint8
	updated       bool  // by an atomic
	half          bool  // by a block of the half that tells the growth
	head          bool  // by a block of the head
	rest          bool  // by any other
	tag           uint8 // of a block that did, the least
}

const (
	sectorBytes = 32
	sketchLines = 2048 // most lines kept: a standard error of 2 %
	sketchRoom  = 2 * sketchLines
)

// allocate makes room, which only engines that measure need.
func (s *sketch) allocate() {
	if s.table == nil {
		s.table = make([]touchedLine, sketchRoom)
	}
}

func (s *sketch) clear() {
	s.empty()
	s.level = 0
}

func (s *sketch) empty() {
	for _, i := range s.used {
		s.table[i] = touchedLine{}
	}
	s.used = s.used[:0]
}

// add notes an access to a sector.
func (s *sketch) add(sector uint64, kind accessKind, tag uint8, half bool) {
	t := touchedLine{line: sector>>2 + 1, updated: kind == updates, half: half, rest: true, tag: tag}
	bit := uint8(1) << (sector & 3)
	if kind != stores {
		t.read = bit
	}
	if kind != loads {
		t.written = bit
	}
	s.insert(&t)
}

// insert adds a line, and thins out the table when that was one too many.
func (s *sketch) insert(t *touchedLine) {
	for s.place(t); len(s.used) > sketchLines; {
		s.refill(s.level + 1)
	}
}

// place adds a line to the table, if its hash is below the threshold.
func (s *sketch) place(t *touchedLine) {
	h := mix(inRegion(t.line))
	if bits.LeadingZeros64(h) < s.level {
		return
	}
	for i := h & (sketchRoom - 1); ; i = (i + 1) & (sketchRoom - 1) {
		at := &s.table[i]
		if at.line == 0 {
			*at = *t
			s.used = append(s.used, int32(i))
			return
		}
		if at.line == t.line {
			at.read |= t.read
			at.written |= t.written
			at.updated = at.updated || t.updated
			at.half = at.half || t.half
			at.head = at.head || t.head
			at.rest = at.rest || t.rest
			at.tag = min(at.tag, t.tag)
			return
		}
	}
}

// refill drops the lines above the threshold of a level.
func (s *sketch) refill(level int) {
	s.spare = s.spare[:0]
	for _, i := range s.used {
		s.spare = append(s.spare, s.table[i])
	}
	s.empty()
	s.level = level
	for i := range s.spare {
		s.place(&s.spare[i])
	}
}

// merge adds the lines of another sketch, of the head or of other blocks.
func (s *sketch) merge(o *sketch, head bool) {
	if len(o.used) == 0 {
		return
	}
	s.allocate()
	if o.level > s.level {
		s.refill(o.level)
	}
	for _, i := range o.used {
		t := o.table[i]
		if head {
			t.head, t.rest, t.half = true, false, false
		}
		s.insert(&t)
	}
}

// Extent is how much of an allocation a launch touched, an estimate in bytes:
// each counted once, however often it was accessed.
type Extent struct {
	Read, Written int64
	// Together is how much the blocks touch that the device holds at once, and Span the
	// share of all that is touched over which the bytes of one block are spread: that of a
	// stencil is small, that of a gather almost 1.
	Together, Span float64
}

// tally sums the sectors of one allocation.
type tally struct {
	read, written float64
	any           float64 // read or written
	head          float64 // of them by the head
	all           float64 // by other blocks
	half          float64 // by those of the half that tells the growth

	first, last [tagged]uint64 // lines that a block touched, by its tag; none where last is 0
}

// tagged is how many measured blocks are told from one another.
const tagged = 16

func (t *tally) add(l *touchedLine) {
	t.read += float64(bits.OnesCount8(l.read))
	t.written += float64(bits.OnesCount8(l.written))
	n := float64(bits.OnesCount8(l.read | l.written))
	t.any += n
	if l.head {
		t.head += n
	}
	if l.rest {
		t.all += n
		t.reach(l)
	}
	if l.half {
		t.half += n
	}
}

// reach notes how far the bytes of a block lie from one another.
func (t *tally) reach(l *touchedLine) {
	if l.tag < tagged {
		if t.last[l.tag] == 0 {
			t.first[l.tag] = l.line
		}
		t.first[l.tag], t.last[l.tag] = min(t.first[l.tag], l.line), max(t.last[l.tag], l.line)
	}
}

// span is the bytes over which what a block touches is spread, in the mean.
func (t *tally) span() float64 {
	var sum, blocks float64
	for i, last := range t.last {
		if last > 0 {
			sum += float64(last-t.first[i]+1) * lineBytes
			blocks++
		}
	}
	return sum / max(1, blocks)
}

// extents says how much of each allocation the whole grid touches, when g's
// measured blocks are one in so many. How much a block adds is seen from about
// half of the measured blocks beside all: as much again when each has its own
// bytes, nothing when they all read one table; the trend is continued as a power
// of the number of blocks.
func (g *gauge) extents(r *run, touched []Touch, oneIn float64) (out []Extent, growth float64) {
	s := &g.bytes
	var all tally
	r.tallies = append(r.tallies[:0], make([]tally, len(touched))...)
	for _, i := range s.used {
		l := &s.table[i]
		// An allocation starts with a line: nothing else lies in the line of an access.
		if a := r.mem.find((l.line-1)*lineBytes+firstSector(l.read|l.written), 1); a != nil {
			for k := range touched {
				if touched[k].Base == a.base {
					r.tallies[k].add(l)
					all.add(l)
				}
			}
		}
	}
	r.extents = append(r.extents[:0], make([]Extent, len(touched))...)
	scale, further := sectorBytes*math.Ldexp(1, s.level), r.stretch(true)
	for k, t := range r.tallies {
		t.head *= further
		if t.any == 0 {
			continue
		}
		grown := scale * g.grown(&t, oneIn)
		_, size, _ := r.mem.Base(touched[k].Base)
		limit := float64((size + sectorBytes - 1) &^ (sectorBytes - 1))
		together := scale * t.any * math.Pow(oneIn*min(1, float64(r.launch.Resident)/float64(r.blocks)), g.growth(&t))
		whole := min(limit, t.any*grown)
		r.extents[k] = Extent{
			Read: int64(min(limit, t.read*grown)), Written: int64(min(limit, t.written*grown)),
			Together: min(limit, together), Span: min(1, t.span()/whole),
		}
	}
	return r.extents, g.growth(&all)
}

// grown is how many times what was touched of an allocation the whole grid touches. What
// blocks touch is taken to grow as a power of their number, so that what the head and
// the rest touch together is a sum of roots.
func (g *gauge) grown(t *tally, oneIn float64) float64 {
	power := g.growth(t)
	rest := math.Pow(oneIn, power)
	if t.head == 0 {
		return rest
	}
	const same = 0.01 // powers below it: both touch the same bytes
	if rest *= t.all; power < same || t.all == 0 {
		return max(t.head, rest) / t.any
	}
	return math.Pow(math.Pow(t.head, 1/power)+math.Pow(rest, 1/power), power) / t.any
}

// growth is the exponent with which what is touched grows with the blocks.
func (g *gauge) growth(t *tally) float64 {
	if g.halves == 0 || g.halves == g.blocks || t.half == 0 {
		return 1
	}
	return min(1, max(0, math.Log(t.all/t.half)/math.Log(float64(g.blocks)/float64(g.halves))))
}

// firstSector is the offset of the first sector of a mask in its line.
func firstSector(mask uint8) uint64 { return uint64(bits.TrailingZeros8(mask)) * sectorBytes }

// contended is how many distinct lines atomics update, at least 1.
func (s *sketch) contended() int64 {
	n := int64(0)
	for _, i := range s.used {
		if s.table[i].updated {
			n++
		}
	}
	return max(1, n<<s.level)
}
