package interp

import (
	"math"
	"math/bits"
)

// sketch estimates the number of distinct sectors that a launch touches, in constant
// memory. It keeps the lines whose hash is below a threshold, and halves the threshold when
// they become too many (Bar-Yossef et al., "Counting Distinct Elements in a Data Stream",
// 2002):
//
//	level 0    all lines are kept         count = kept
//	level 1    hashes that begin with 0   count = 2·kept
//	level 2    with 00                    count = 4·kept
//
// The result is a function of the set of lines and not of their order, so sketches of
// different blocks can be merged. If a launch touches no more lines than the sketch keeps,
// the count is exact.
type sketch struct {
	level int           // the number of leading zeros in the hash of lines that are kept
	table []touchedLine // open addressing; line 0 marks an empty slot
	used  []int32       // the slots in use
	spare []touchedLine // scratch of refill
}

// touchedLine is a line of four sectors, with a bit for each sector and kind of access.
type touchedLine struct {
	line          uint64 // its number, plus one
	read, written uint8
	updated       bool  // by an atomic
	half          bool  // by a block of the half by which the growth is computed
	head          bool  // by a block of the head
	nonHead       bool  // by any other
	tag           uint8 // the least tag of the blocks that touched it
}

// Sizes of the sketch.
const (
	sectorBytes = 32
	sketchLines = 2048 // maximum number of lines: a standard error of 2 %
	sketchSlots = 2 * sketchLines
)

// allocate allocates the table. Only engines that measure need one.
func (s *sketch) allocate() {
	if s.table == nil {
		s.table = make([]touchedLine, sketchSlots)
	}
}

// clear removes all lines, and sets the threshold back.
func (s *sketch) clear() {
	s.empty()
	s.level = 0
}

// empty removes all lines.
func (s *sketch) empty() {
	for _, i := range s.used {
		s.table[i] = touchedLine{}
	}
	s.used = s.used[:0]
}

// add records an access to a sector.
func (s *sketch) add(sector uint64, kind accessKind, tag uint8, half bool) {
	t := touchedLine{line: sector>>2 + 1, updated: kind == updates, half: half, nonHead: true, tag: tag}
	bit := uint8(1) << (sector & 3)
	if kind != stores {
		t.read = bit
	}
	if kind != loads {
		t.written = bit
	}
	s.insert(&t)
}

// insert adds a line, and raises the level if there are too many.
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
	for i := h & (sketchSlots - 1); ; i = (i + 1) & (sketchSlots - 1) {
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
			at.nonHead = at.nonHead || t.nonHead
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
			t.head, t.nonHead, t.half = true, false, false
		}
		s.insert(&t)
	}
}

// Extent is an estimate of the bytes of an allocation that a launch touched. Each byte
// counts once.
type Extent struct {
	Read, Written int64
	// Together is the number of bytes touched by the blocks that the device runs at once.
	// Span is the share of all touched bytes over which the bytes of one block are spread:
	// small for a stencil, almost 1 for a gather.
	Together, Span float64
}

// tally sums the sectors of one allocation.
type tally struct {
	read, written float64
	touched       float64 // read or written
	head          float64 // those of any that the head touched
	others        float64 // by other blocks
	half          float64 // by the half of the blocks by which the growth is computed

	first, last [maxTags]uint64 // lines that a block touched, by its tag; none where last is 0
}

// maxTags is the number of measured blocks that can be distinguished.
const maxTags = 16

// add adds the sectors of a line.
func (t *tally) add(l *touchedLine) {
	t.read += float64(bits.OnesCount8(l.read))
	t.written += float64(bits.OnesCount8(l.written))
	n := float64(bits.OnesCount8(l.read | l.written))
	t.touched += n
	if l.head {
		t.head += n
	}
	if l.nonHead {
		t.others += n
		t.reach(l)
	}
	if l.half {
		t.half += n
	}
}

// reach records the distance between the bytes of a block.
func (t *tally) reach(l *touchedLine) {
	if l.tag < maxTags {
		if t.last[l.tag] == 0 {
			t.first[l.tag] = l.line
		}
		t.first[l.tag], t.last[l.tag] = min(t.first[l.tag], l.line), max(t.last[l.tag], l.line)
	}
}

// span returns the mean number of bytes over which the accesses of a block are spread.
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

// extents estimates the part of each allocation that the whole grid touches. It distributes
// the lines of the sketch over the allocations, and extrapolates their bytes as a power of
// the number of blocks. The exponent is computed from the bytes that all measured blocks
// touched and those that about half of them did. It is 1 if each block has its own bytes,
// and 0 if all read one table. factor is the ratio of the grid's blocks to the measured
// ones.
func (g *gauge) extents(r *run, touched []Touch, factor float64) (out []Extent, growth float64) {
	s := &g.bytes
	var all tally
	r.tallies = append(r.tallies[:0], make([]tally, len(touched))...)
	for _, i := range s.used {
		l := &s.table[i]
		// Allocations start at a line, so the line of an access belongs to one allocation.
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
	scale, further := sectorBytes*math.Ldexp(1, s.level), r.skippedRatio(true)
	for k, t := range r.tallies {
		t.head *= further
		if t.touched == 0 {
			continue
		}
		grown := scale * g.growthFactor(&t, factor)
		_, size, _ := r.mem.Base(touched[k].Base)
		limit := float64((size + sectorBytes - 1) &^ (sectorBytes - 1))
		together := scale * t.touched * math.Pow(factor*min(1, float64(r.launch.Resident)/float64(r.blocks)), g.growth(&t))
		whole := min(limit, t.touched*grown)
		r.extents[k] = Extent{
			Read: int64(min(limit, t.read*grown)), Written: int64(min(limit, t.written*grown)),
			Together: min(limit, together), Span: min(1, t.span()/whole),
		}
	}
	return r.extents, g.growth(&all)
}

// growthFactor returns the factor from the touched part of an allocation to that of the
// whole grid. The part grows as a power of the number of blocks. A number of blocks that
// touches s bytes is therefore proportional to s^(1/power), so the head and the other
// blocks together touch (head^(1/power) + rest^(1/power))^power bytes.
func (g *gauge) growthFactor(t *tally, factor float64) float64 {
	power := g.growth(t)
	rest := math.Pow(factor, power)
	if t.head == 0 {
		return rest
	}
	const same = 0.01 // for powers below it, both touch the same bytes
	if rest *= t.others; power < same || t.others == 0 {
		return max(t.head, rest) / t.touched
	}
	return math.Pow(math.Pow(t.head, 1/power)+math.Pow(rest, 1/power), power) / t.touched
}

// growth returns the exponent by which the touched part grows with the number of blocks:
//
//	log(bytes of all measured blocks / bytes of the half) / log(blocks / blocks of the half)
//
// It is limited to [0, 1].
func (g *gauge) growth(t *tally) float64 {
	if g.halves == 0 || g.halves == g.blocks || t.half == 0 {
		return 1
	}
	return min(1, max(0, math.Log(t.others/t.half)/math.Log(float64(g.blocks)/float64(g.halves))))
}

// firstSector returns the offset of the first sector of a mask in its line.
func firstSector(mask uint8) uint64 { return uint64(bits.TrailingZeros8(mask)) * sectorBytes }

// updatedLines returns the number of distinct lines that atomics update, at least 1.
func (s *sketch) updatedLines() int64 {
	n := int64(0)
	for _, i := range s.used {
		if s.table[i].updated {
			n++
		}
	}
	return max(1, n<<s.level)
}
