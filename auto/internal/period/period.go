// Package period detects tandem repeats (squares) in a stream of symbols: a substring followed at once by an equal one.
// A repeat is reported when its last symbol arrives.
//
// The package keeps a window of the newest symbols, at least two maximal periods long, as prefix hashes. The newest 4,
// 16, 64, ... symbols are looked up in hash tables of earlier substrings of the same length. The distance to a match is
// a candidate period. A candidate becomes a run, which is extended by one comparison for each symbol and reported at the
// end of every period. Repeats are exact in the symbols. If the symbols are hashes, the caller must compare the
// occurrences itself.
//
// A symbol costs O(1) in a stream without repetition, and O(maxRuns + log maxPeriod) in others. Starting a run costs at
// most one period more.
package period

// Finder detects repeats in a stream. Make one with New.
type Finder struct {
	maxPeriod int
	mask      int      // window size - 1; the size is a power of two and greater than 2*maxPeriod
	n         int      // symbols so far
	sums      []uint64 // ring of prefix hashes: sums[i&mask] is the hash of symbols 0 to i-1
	scales    []scale  // by ascending length
	runs      []run    // at most maxRuns, with different periods
	found     []Repeat // the result of Next, reused
}

// Repeat is a substring of Period symbols that has occurred Visits times in a row. Its last occurrence has just ended.
type Repeat struct{ Period, Visits int }

// scale indexes substrings of one fixed length by their last occurrence. It is queried only where a shorter substring has
// already matched, and it indexes new symbols lazily, just before a query. A stream without repetition therefore costs
// little more than a query of the first scale for each symbol.
type scale struct {
	length  int
	indexed int      // the positions below it are in the table
	power   uint64   // multiplier^length mod 2^64, which removes the oldest symbol from a rolling hash
	sample  uint64   // only substrings whose hash is 0 in these bits are indexed
	table   []uint32 // by hash, its length a power of two: 16 further bits of the hash, then the low 16 bits of the position
}

// run is a maximal range in which s[i] == s[i-period]. It starts at the second occurrence.
type run struct {
	period, start int
	end           int // where the current occurrence ends
}

// maxRuns is the largest number of runs that are extended at a time. There is one for each distance at which the newest
// symbols occurred before; all but one or two of them end within a few symbols.
const maxRuns = 12

// multiplier is the base of the polynomial hashes, modulo 2^64. It is odd, so that multiplication loses no bit of a symbol.
const multiplier = 0x9e3779b97f4a7c15

// minLength is the length of the first scale, in symbols. In a stream with a small alphabet, shorter substrings match by
// chance, and each match would start a run. Shorter periods are found by direct comparison.
const minLength = 4

// New returns a finder of periods of 1 to maxPeriod symbols. maxPeriod must be less than 32768, because tables hold 16
// bits of a position.
func New(maxPeriod int) *Finder {
	size := 1
	for size <= 2*maxPeriod {
		size *= 2
	}
	f := &Finder{maxPeriod: maxPeriod, mask: size - 1, sums: make([]uint64, size), runs: make([]run, 0, maxRuns+1)}
	for length := minLength; length <= maxPeriod; length *= 4 {
		sc := scale{length: length, power: 1, table: make([]uint32, 4*size)}
		for range length {
			sc.power *= multiplier
		}
		if length > minLength { // the first scale indexes every substring
			// Sampling one substring in length/4 leaves about four in each period of this length. The sample depends on the
			// symbols alone, so that both occurrences contain the same samples. The tables of all scales together are
			// less than twice as large as the first.
			sc.sample = uint64(length/4 - 1)
			sc.table = sc.table[:8*size/length]
		}
		f.scales = append(f.scales, sc)
	}
	return f
}

// Next appends a symbol and returns the repeats that end with it, by ascending period: one for the second occurrence of
// a substring, and one for each occurrence after it. Visits is at least 2 and is a lower bound of the number of
// occurrences. The slice is valid until the next call.
//
// A substring of fewer than 4 symbols, or one that contains some 4 consecutive symbols only once, is always reported at
// the end of its second occurrence. Other substrings are reported there with high probability, and later otherwise.
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

// Fresh reports whether no run is open: the last symbol does not seem to be part of a repetition.
func (f *Finder) Fresh() bool { return len(f.runs) == 0 }

// Skip appends a symbol that occurs for the first time. It replaces a call of Next and closes all runs.
func (f *Finder) Skip(symbol uint64) {
	f.remember(symbol)
	f.runs = f.runs[:0]
}

// remember appends the prefix hash that includes a symbol. It adds 1 to the symbol, so that zeros change the hash.
func (f *Finder) remember(symbol uint64) {
	sum := f.sums[f.n&f.mask]
	f.n++
	f.sums[f.n&f.mask] = sum*multiplier + symbol + 1
}

// symbol returns the symbol at a position, plus 1, as the difference of two prefix hashes. The symbols are not stored as
// well: a second array would take more of the processor's cache from the program.
func (f *Finder) symbol(at int) uint64 {
	return f.sums[(at+1)&f.mask] - f.sums[at&f.mask]*multiplier
}

// follow extends each run by the symbol at a position, and drops the runs that it does not continue.
func (f *Finder) follow(at int) {
	kept := f.runs[:0]
	for _, r := range f.runs {
		if f.symbol(at) == f.symbol(at-r.period) {
			kept = append(kept, r)
		}
	}
	f.runs = kept
}

// short starts a run if the newest symbol occurred fewer than minLength symbols ago.
func (f *Finder) short(at int) {
	newest := f.symbol(at)
	for period := 1; period < minLength && period <= min(at, f.maxPeriod); period++ {
		if newest == f.symbol(at-period) {
			f.suggest(period, at)
			return
		}
	}
}

// long starts a run for each scale in which the newest symbols occurred before. It stops at the first scale without a
// match: longer substrings cannot match either.
func (f *Finder) long(at int) {
	for i := range f.scales {
		s := &f.scales[i]
		f.index(s, at)
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
		if (mark^last)>>16 != 0 || period == 0 || period > min(f.maxPeriod, at) {
			return
		}
		if f.symbol(at) != f.symbol(at-period) {
			return // different symbols with the same hash
		}
		f.suggest(period, at)
	}
}

// index enters the substrings that end before a position into the table of a scale, except those already there and those
// more than maxPeriod symbols back.
func (f *Finder) index(s *scale, at int) {
	for pos := max(s.indexed, at-f.maxPeriod); pos < at; pos++ {
		if slot, mark := f.slot(s, pos); slot != nil {
			*slot = mark
		}
	}
	s.indexed = at + 1
}

// slot returns the table entry of the substring that ends at a position, and the value to store there. The entry is nil
// if the substring is not in the sample, or if the stream is still shorter than it.
func (f *Finder) slot(s *scale, at int) (slot *uint32, mark uint32) {
	if at+1 < s.length {
		return nil, 0
	}
	hash := f.sums[(at+1)&f.mask] - f.sums[(at+1-s.length)&f.mask]*s.power
	hash ^= hash >> 32
	if hash&s.sample != 0 {
		return nil, 0
	}
	hash *= multiplier
	return &s.table[hash>>48&uint64(len(s.table)-1)], uint32(hash>>16)&^0xffff | uint32(uint16(at))
}

// suggest starts a run with a period, unless one with that period is open.
func (f *Finder) suggest(period, at int) {
	for _, r := range f.runs {
		if r.period == period {
			return
		}
	}
	f.add(period, at)
}

// add starts a run with a period at the newest symbol and extends it backwards, by at most one period: a longer
// extension would not make a repeat known earlier. It stops at start == period, where the run would leave the stream.
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

// drop removes the youngest run, which is the likeliest to end soon.
func (f *Finder) drop() {
	youngest := 0
	for i, r := range f.runs {
		if f.n-r.start < f.n-f.runs[youngest].start {
			youngest = i
		}
	}
	f.runs = append(f.runs[:youngest], f.runs[youngest+1:]...)
}

// insert adds a repeat to a list sorted by period. Lists are short, so that insertion sort is quickest.
func insert(list []Repeat, v Repeat) []Repeat {
	i := len(list)
	list = append(list, v)
	for ; i > 0 && list[i-1].Period > v.Period; i-- {
		list[i] = list[i-1]
	}
	list[i] = v
	return list
}
