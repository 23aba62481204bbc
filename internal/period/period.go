// Package period finds where a stream of symbols begins to repeat itself. Squares are what it looks
// for, a stretch that comes twice in a row, and it says so with the last symbol of the second.
//
// It remembers a window and no more. Whoever is told of a square has two visits before him and can look
// for himself whether they are the same; what is found is exact for the symbols, and those may be hashes.
package period

// Finder looks for squares in a stream. Make one with New.
type Finder struct {
	most   int      // the longest period
	mask   int      // of positions in the window
	n      int      // symbols so far
	sums   []uint64 // by position: a polynomial of all symbols before
	scales []scale
	runs   []run
	found  []Repeat
}

// Repeat is a stretch of symbols that came several times in a row, the last of which has just ended.
type Repeat struct{ Period, Visits int }

// scale looks for the last occurrence of so many symbols in a row. It is asked where fewer have occurred before, and
// only then told of what came since: a stream that does not repeat itself costs little more than a look at the first.
type scale struct {
	length int
	told   int      // positions before it are in the table
	power  uint64   // multiplier to the length
	rare   uint64   // bits of a hash that are 0 where one looks
	last   []uint32 // by hash, a power of two of them: what else there is of the hash, and the position, 16 bits of each
}

// run is a stretch in which each symbol is that of a period before; it begins with the second visit.
type run struct {
	period, start int
	end           int // of the visit that it is in
}

// maxRuns is how many stretches are followed at a time. A stream has as many as its newest symbols have
// occurred at different distances, of which all but one or two end within a few symbols.
const maxRuns = 12

// multiplier makes polynomials of symbols, modulo 2^64: it is odd, so that no symbol is lost.
const multiplier = 0x9e3779b97f4a7c15

// shortest is how many symbols the first scale looks for. Fewer come again by chance where a stream has few of them, and
// each time there would be a stretch to follow. Whatever is shorter is compared instead.
const shortest = 4

// New returns a finder of periods of 1 to most symbols, which are less than 32768: tables keep 16 bits of a position.
func New(most int) *Finder {
	size := 1
	for size <= 2*most {
		size *= 2
	}
	f := &Finder{most: most, mask: size - 1, sums: make([]uint64, size), runs: make([]run, 0, maxRuns+1)}
	for length := shortest; length <= most; length *= 4 {
		sc := scale{length: length, power: 1, last: make([]uint32, 4*size)}
		for range length {
			sc.power *= multiplier
		}
		if length > shortest { // which is asked for all
			// One of length/4 places is enough to have some in each period of the length, and which they are depends on the
			// symbols alone, so that both visits have the same. All scales together then cost no more than a few.
			sc.rare = uint64(length/4 - 1)
			sc.last = sc.last[:8*size/length]
		}
		f.scales = append(f.scales, sc)
	}
	return f
}

// Next takes the next symbol and returns the periods, ascending, of which it ends a visit that is the same as
// the one before: the second, and each after it. The visits that it counts are at least two, and may be less than
// there were. The slice is good until the next call.
//
// A stretch that has some four symbols in a row only once, or is shorter, is found at the end of its second visit, and all
// others are likely to be.
func (f *Finder) Next(symbol uint64) []Repeat {
	at := f.n
	f.remember(symbol)
	f.found = f.found[:0]
	if len(f.runs) > 0 {
		f.follow(at)
	}
	f.short(at)
	f.long(at)
	for i := range f.runs {
		if r := &f.runs[i]; r.end == at+1 {
			f.found = insert(f.found, Repeat{r.period, 1 + (r.end-r.start)/r.period})
			r.end += r.period
		}
	}
	return f.found
}

// Fresh reports that nothing suggests that the last symbol is part of a second visit.
func (f *Finder) Fresh() bool { return len(f.runs) == 0 }

// Skip takes the next symbol instead of Next, from who knows that it is fresh.
func (f *Finder) Skip(symbol uint64) {
	f.remember(symbol)
	f.runs = f.runs[:0]
}

func (f *Finder) remember(symbol uint64) {
	sum := f.sums[f.n&f.mask]
	f.n++
	f.sums[f.n&f.mask] = sum*multiplier + symbol + 1
}

// symbol is the one at a position, less one. There is no array of them, since what a finder has in a processor's cache a program has not.
func (f *Finder) symbol(at int) uint64 {
	return f.sums[(at+1)&f.mask] - f.sums[at&f.mask]*multiplier
}

// follow drops the runs that the symbol at a position is not part of.
func (f *Finder) follow(at int) {
	kept := f.runs[:0]
	for _, r := range f.runs {
		if f.symbol(at) == f.symbol(at-r.period) {
			kept = append(kept, r)
		}
	}
	f.runs = kept
}

// short adds the run that the last occurrence of the newest symbol suggests, if that is nearer than scales look.
func (f *Finder) short(at int) {
	newest := f.symbol(at)
	for period := 1; period < shortest && period <= min(at, f.most); period++ {
		if newest == f.symbol(at-period) {
			f.suggest(period, at)
			return
		}
	}
}

// long adds the runs that the last occurrences of the newest symbols suggest, as long as there are such.
func (f *Finder) long(at int) {
	for i := range f.scales {
		s := &f.scales[i]
		f.tell(s, at)
		slot, mark := f.slot(s, at)
		if slot == nil {
			if at+1 < s.length {
				return
			}
			continue
		}
		last := *slot
		*slot = mark
		period := int(uint16(mark - last))
		if (mark^last)>>16 != 0 || period == 0 || period > min(f.most, at) {
			return
		}
		if f.symbol(at) != f.symbol(at-period) {
			return // others with the same hash
		}
		f.suggest(period, at)
	}
}

// tell puts what a scale has not been told before a position into its table.
func (f *Finder) tell(s *scale, at int) {
	for told := max(s.told, at-f.most); told < at; told++ {
		if slot, mark := f.slot(s, told); slot != nil {
			*slot = mark
		}
	}
	s.told = at + 1
}

// slot is the place of the symbols up to a position, nil if they have none, and what belongs there.
func (f *Finder) slot(s *scale, at int) (slot *uint32, mark uint32) {
	if at+1 < s.length {
		return nil, 0
	}
	hash := f.sums[(at+1)&f.mask] - f.sums[(at+1-s.length)&f.mask]*s.power
	hash ^= hash >> 32
	if hash&s.rare != 0 {
		return nil, 0
	}
	hash *= multiplier
	return &s.last[hash>>48&uint64(len(s.last)-1)], uint32(hash>>16)&^0xffff | uint32(uint16(at))
}

// suggest adds the run of a period, unless there is none or it is known.
func (f *Finder) suggest(period, at int) {
	for _, r := range f.runs {
		if r.period == period {
			return
		}
	}
	f.add(period, at)
}

// add follows a period from now on. What it has been followed for counts from the start of a visit at most: more
// would not make it found earlier.
func (f *Finder) add(period, at int) {
	start := at + 1
	for start != at+1-period && start > period && f.symbol(start-1) == f.symbol(start-1-period) {
		start--
	}
	if len(f.runs) == maxRuns {
		f.drop()
	}
	f.runs = append(f.runs, run{period, start, start + period})
}

// drop makes room: the run that has lasted least is likeliest to end.
func (f *Finder) drop() {
	youngest := 0
	for i, r := range f.runs {
		if f.n-r.start < f.n-f.runs[youngest].start {
			youngest = i
		}
	}
	f.runs = append(f.runs[:youngest], f.runs[youngest+1:]...)
}

// insert keeps a short list sorted.
func insert(list []Repeat, v Repeat) []Repeat {
	i := len(list)
	list = append(list, v)
	for ; i > 0 && list[i-1].Period > v.Period; i-- {
		list[i] = list[i-1]
	}
	list[i] = v
	return list
}
